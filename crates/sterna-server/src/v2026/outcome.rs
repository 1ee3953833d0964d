//! Runs a round and writes its answer.

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use serde::Serialize;
use sterna_http::{Admission, DeadlinePassed, with_deadline};
use sterna_protocol::input::InputRequired;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::{RequestMeta, ResultMeta};
use sterna_protocol::result::{Complete, Outcome};
use sterna_protocol::tool::CallToolResult;
use sterna_runner::EnteredRound;

use crate::core::Core;
use crate::failure::Failure;
use crate::handler::HandlerKind;
use crate::reply::RequestSpan;
use crate::reply::{Answer, CallResult, sign};
use crate::rounds::{Continued, Played, Round, round_failed};
use crate::tasks::store_failed;

/// Runs the round and writes its answer.
///
/// `finish` makes its result ready for the client.
pub(super) async fn serve<T: CallResult + Serialize + Send + 'static>(
    round: Box<Round>,
    way: &HandlerKind<T>,
    deadline: Instant,
    id: RequestId,
    finish: impl FnOnce(&Core, &mut T) -> Result<(), Failure> + Send,
) -> Answer {
    if round.is_remembered() {
        // Boxed: few rounds are, and it would make all others as large.
        return Box::pin(serve_once(round, way, deadline, id, finish)).await;
    }
    let core = Arc::clone(&round.core);
    let playing = pin!(round.play(way));
    let played = with_deadline(deadline, playing).await;
    match finished(&core, played, finish) {
        Ok(Outcome::Complete(result)) => {
            if let Some(text) = result.plain_text() {
                return Answer::text(&core, &id, text);
            }
            let has_failed = result.is_failed_tool();
            let answer = signed(&core, id, Complete(result), |Complete(result)| {
                result.meta()
            });
            if has_failed {
                answer.of_failed_tool()
            } else {
                answer
            }
        }
        Ok(Outcome::InputRequired(required)) => Answer::asking(&core, id, required),
        Ok(Outcome::Extension(Continued::Asking(asked))) => Answer::asked(&core, id, &asked),
        Ok(Outcome::Extension(Continued::Task(created))) => Answer::done(id, &created),
        Err(failure) => failed(&core, id, failure),
    }
}

/// Plays a round that is entered in the ledger, or finds the answer that it
/// had before.
async fn serve_once<T: CallResult + Serialize + Send + 'static>(
    mut round: Box<Round>,
    way: &HandlerKind<T>,
    deadline: Instant,
    id: RequestId,
    finish: impl FnOnce(&Core, &mut T) -> Result<(), Failure> + Send,
) -> Answer {
    let core = Arc::clone(&round.core);
    let entering = with_deadline(deadline, round.enter(way)).await;
    let lease = match entering.unwrap_or(Err(Failure::TimedOut)) {
        Ok(EnteredRound::Leased(lease)) => lease,
        Ok(EnteredRound::Answered(response)) => return Answer::cached(&id, &[&response]),
        Err(failure) => return Answer::failed(Some(&id), &failure),
    };
    let playing = with_deadline(deadline, round.play(way));
    let played = lease.renew_while(playing).await;
    let left = match written(&core, finished(&core, played, finish)) {
        Ok(response) => lease.complete(response).await.map_err(round_failed),
        Err(failure) => {
            if let Err(error) = lease.release().await {
                store_failed(&error);
            }
            Err(failure)
        }
    };
    match left {
        Ok(response) => Answer::cached(&id, &[&response]),
        Err(failure) => Answer::failed(Some(&id), &failure),
    }
}

/// Outcome of a round, made ready for the client.
fn finished<T>(
    core: &Core,
    played: Result<Result<Played<T>, Failure>, DeadlinePassed>,
    finish: impl FnOnce(&Core, &mut T) -> Result<(), Failure>,
) -> Result<Played<T>, Failure> {
    let mut outcome = played.unwrap_or(Err(Failure::TimedOut))?;
    if let Outcome::Complete(result) = &mut outcome {
        finish(core, result)?;
    }
    Ok(outcome)
}

/// The answer with a result that says who the server is.
fn signed<T: Serialize>(
    core: &Core,
    id: RequestId,
    mut result: T,
    meta: fn(&mut T) -> &mut Option<ResultMeta>,
) -> Answer {
    let slot = meta(&mut result);
    if slot.is_none() {
        return Answer::signed(core, id, &result);
    }
    sign(core, slot);
    Answer::done(id, &result)
}

/// Answers a call that fails before it begins, and has it seen.
pub(super) fn reject<T: CallResult>(
    core: &Arc<Core>,
    admission: &Admission,
    id: RequestId,
    meta: &RequestMeta,
    failure: Failure,
) -> Answer {
    let mut operation = RequestSpan::begin(
        core,
        admission,
        T::METHOD,
        None,
        &id,
        &meta.protocol_version,
    );
    let answer = failed(core, id, failure);
    operation.end(answer.ended());
    answer
}

/// The result of a round as it is remembered.
fn written<T: CallResult + Serialize>(
    core: &Core,
    outcome: Result<Played<T>, Failure>,
) -> Result<Bytes, Failure> {
    let written = match outcome {
        Ok(Outcome::Complete(mut result)) => {
            sign(core, result.meta());
            serde_json::to_vec(&Complete(result))
        }
        Ok(Outcome::Extension(Continued::Asking(asked))) => asking(core, asked.into_required()),
        Ok(Outcome::InputRequired(required)) => asking(core, required),
        Ok(Outcome::Extension(Continued::Task(created))) => serde_json::to_vec(&created),
        Err(Failure::Tool(text)) => {
            let mut result = CallToolResult::error(text);
            sign(core, &mut result.meta);
            serde_json::to_vec(&Complete(result))
        }
        Err(failure) => return Err(failure),
    };
    written.map(Bytes::from).map_err(|error| {
        tracing::error!(target: "sterna::server", %error, "a result has no JSON form");
        Failure::Internal
    })
}

fn asking(core: &Core, mut required: InputRequired) -> serde_json::Result<Vec<u8>> {
    sign(core, &mut required.meta);
    serde_json::to_vec(&required)
}

fn failed(core: &Core, id: RequestId, failure: Failure) -> Answer {
    match failure {
        Failure::Tool(text) => {
            let result = CallToolResult::error(text);
            Answer::signed(core, id, &Complete(result)).of_failed_tool()
        }
        failure => Answer::failed(Some(&id), &failure),
    }
}
