//! The three requests that may take several rounds (MRTR-S1).

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use http::Response;
use serde::Serialize;
use serde_json::Value;
use sterna_protocol::caching::CacheScope;
use sterna_protocol::input::{InputResponses, RequestState};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::{RequestMeta, ResultMeta};
use sterna_protocol::prompt::{GetPromptRequestParams, GetPromptResult};
use sterna_protocol::resource::{ReadResourceRequestParams, ReadResourceResult};
use sterna_protocol::result::{Complete, Outcome};
use sterna_protocol::tool::{CallToolRequestParams, CallToolResult};

use super::write::Answer;
use crate::call::{Becoming, Facts, Request};
use crate::core::Core;
use crate::cx::Posed;
use crate::edge::before::{TooLate, before};
use crate::edge::{EdgeBody, Inbound, Pass, reply};
use crate::failure::Failure;
use crate::handler::Way;
use crate::rounds::{Played, Reporter, Retry, Round, Wanted};
use crate::tasks::{self, Opening, Wish};
use crate::telemetry::Operation;

pub(super) async fn tool(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: CallToolRequestParams,
) -> Response<EdgeBody> {
    let wanted = match Wanted::tool(&core, params.name, params.arguments) {
        Ok(wanted) => wanted,
        Err(failure) => {
            let answer = early::<CallToolResult>(&core, &inbound.pass, id, &params.meta, failure);
            return answer.plain(inbound.accepts);
        }
    };
    let plan = core.offers.tools.get(&wanted.target.name);
    let plan = plan.map_or_else(Default::default, |entry| entry.task);
    let capabilities = &params.meta.client_capabilities;
    let wish = match tasks::wish(&core, plan.mode, capabilities, &params.extra) {
        Ok(wish) => wish,
        Err(failure) => {
            let answer = early::<CallToolResult>(&core, &inbound.pass, id, &params.meta, failure);
            return answer.plain(inbound.accepts);
        }
    };
    if let Some(wish) = wish
        && params.request_state.is_none()
        && !plan.asks_first
        && let Some(tasks) = &core.tasks
    {
        let tool = Some(wanted.target.name.as_str());
        let version = &params.meta.protocol_version;
        let mut operation =
            Operation::begin(&core, &inbound.pass, "tools/call", tool, &id, version);
        let opening = Opening {
            caller: inbound.pass.caller(),
            meta: params.meta,
            tool: &wanted.target.name,
            arguments: wanted.input,
            ttl: wish.ttl,
            begun: None,
        };
        // Boxed: few calls create one, and it would make all others as large.
        let answer = match Box::pin(tasks.create(&core, opening, wish)).await {
            Ok(created) => Answer::done(id, &created),
            Err(failure) => Answer::failed(Some(&id), &failure),
        };
        operation.end(answer.ended());
        return answer.plain(inbound.accepts);
    }
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        wish,
    };
    run(core, inbound, id, Ok(wanted), sent, |core, name, result| {
        keep_promise(core, name, result)
    })
    .await
}

pub(super) async fn prompt(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: GetPromptRequestParams,
) -> Response<EdgeBody> {
    let wanted = Wanted::prompt(&core, params.name, params.arguments);
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        wish: None,
    };
    run(core, inbound, id, wanted, sent, |_, _, _| Ok(())).await
}

pub(super) async fn resource(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: ReadResourceRequestParams,
) -> Response<EdgeBody> {
    let wanted = Wanted::resource(&core, params.uri);
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        wish: None,
    };
    run(core, inbound, id, wanted, sent, finish_resource).await
}

/// What came with a request besides what it is about.
struct Sent {
    meta: RequestMeta,
    responses: Option<InputResponses>,
    state: Option<RequestState>,
    wish: Option<Wish>,
}

/// Plays the round and gives its outcome the shape it needs: a document, or an
/// event stream once the handler has something to say.
async fn run<T: MayFail + Serialize + Send + 'static>(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    wanted: Result<Wanted<T>, Failure>,
    sent: Sent,
    finish: Finish<T>,
) -> Response<EdgeBody> {
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(failure) => {
            let answer = early::<T>(&core, &inbound.pass, id, &sent.meta, failure);
            return answer.plain(inbound.accepts);
        }
    };
    let target = &wanted.target;
    let version = &sent.meta.protocol_version;
    let (pass, name) = (&inbound.pass, Some(target.name.as_str()));
    let operation = Operation::begin(&core, pass, target.method, name, &id, version);
    let (outbox, inbox) = inbound.outbox();
    let patience = inbound.patience;
    let Inbound {
        head,
        pass,
        accepts,
        deadline,
        shutdown,
        ..
    } = inbound;
    let reporter = Reporter::new(&sent.meta, outbox).filter(|_| accepts.events());
    let traceparent = sent.meta.traceparent.clone();
    let request = Request::new(Facts {
        core: Arc::clone(&core),
        meta: sent.meta,
        pass,
        extensions: head.extensions,
        reporter: reporter.map(Arc::new),
        mistake: OnceLock::new(),
        place: OnceLock::new(),
        becoming: Becoming::wishing(sent.wish),
        posed: Posed::default(),
    });
    let round = Round {
        core: Arc::clone(&core),
        request,
        target: wanted.target,
        input: Arc::new(wanted.input),
        responses: sent.responses,
        state: sent.state,
        traceparent,
        shutdown,
    };
    let call = Box::pin(async move {
        // Pinned first: whoever wraps it then moves a pointer and not the call.
        let serving = pin!(async {
            let answer = serve(round, &wanted.way, deadline, id, finish).await;
            let ended = answer.ended();
            (answer, Some(ended))
        });
        operation.watch(serving).await
    });
    if !accepts.events() {
        return call.await.plain(accepts);
    }
    reply::running(
        call,
        inbox,
        patience,
        move |answer| answer.plain(accepts),
        Answer::event,
    )
    .await
}

/// How the result of a round is made ready for its client.
type Finish<T> = fn(&Core, &str, &mut T) -> Result<(), Failure>;

/// Plays the round to its answer.
async fn serve<T: MayFail + Serialize + Send + 'static>(
    round: Round,
    way: &Way<T>,
    deadline: Instant,
    id: RequestId,
    finish: Finish<T>,
) -> Answer {
    if round.is_remembered() {
        // Boxed: few rounds are, and it would make all others as large.
        return Box::pin(serve_once(round, way, deadline, id, finish)).await;
    }
    let core = Arc::clone(&round.core);
    let name = round.target.name.clone();
    let playing = pin!(round.play(way));
    let played = before(deadline, playing).await;
    match finished(&core, &name, played, finish) {
        Ok(Outcome::Complete(result)) => {
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
        Ok(Outcome::InputRequired(required)) => {
            signed(&core, id, required, |required| &mut required.meta)
        }
        Ok(Outcome::Extension(created)) => Answer::done(id, &created),
        Err(failure) => failed(&core, id, failure),
    }
}

/// Plays a round that is entered in the ledger, or finds the answer that it
/// had before.
async fn serve_once<T: MayFail + Serialize + Send + 'static>(
    round: Round,
    way: &Way<T>,
    deadline: Instant,
    id: RequestId,
    finish: Finish<T>,
) -> Answer {
    let core = Arc::clone(&round.core);
    let name = round.target.name.clone();
    let entering = before(deadline, round.enter()).await;
    let ticket = match entering.unwrap_or(Err(Failure::TimedOut)) {
        Ok(Retry::Play(ticket)) => ticket,
        Ok(Retry::Again(response)) => return Answer::cached(&id, &[&response]),
        Err(failure) => return Answer::failed(Some(&id), &failure),
    };
    let played = ticket.keep(before(deadline, round.play(way))).await;
    let left = match written(&core, finished(&core, &name, played, finish)) {
        Ok(response) => ticket.leave(response).await,
        Err(failure) => {
            ticket.release().await;
            Err(failure)
        }
    };
    match left {
        Ok(response) => Answer::cached(&id, &[&response]),
        Err(failure) => Answer::failed(Some(&id), &failure),
    }
}

/// What a round came to, once it is ready for the client.
fn finished<T>(
    core: &Core,
    name: &str,
    played: Result<Result<Played<T>, Failure>, TooLate>,
    finish: Finish<T>,
) -> Result<Played<T>, Failure> {
    let mut outcome = played.unwrap_or(Err(Failure::TimedOut))?;
    if let Outcome::Complete(result) = &mut outcome {
        finish(core, name, result)?;
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

/// A result that may itself say that something failed.
pub(crate) trait MayFail {
    /// What it is the result of.
    const METHOD: &'static str;

    /// What it says about itself.
    fn meta(&mut self) -> &mut Option<ResultMeta>;

    fn is_failed_tool(&self) -> bool {
        false
    }
}

impl MayFail for CallToolResult {
    const METHOD: &'static str = "tools/call";

    fn meta(&mut self) -> &mut Option<ResultMeta> {
        &mut self.meta
    }

    fn is_failed_tool(&self) -> bool {
        self.is_error == Some(true)
    }
}

impl MayFail for GetPromptResult {
    const METHOD: &'static str = "prompts/get";

    fn meta(&mut self) -> &mut Option<ResultMeta> {
        &mut self.meta
    }
}

impl MayFail for ReadResourceResult {
    const METHOD: &'static str = "resources/read";

    fn meta(&mut self) -> &mut Option<ResultMeta> {
        &mut self.meta
    }
}

/// Answers a call that fails before it begins, and has it seen.
fn early<T: MayFail>(
    core: &Arc<Core>,
    pass: &Pass,
    id: RequestId,
    meta: &RequestMeta,
    failure: Failure,
) -> Answer {
    let mut operation = Operation::begin(core, pass, T::METHOD, None, &id, &meta.protocol_version);
    let answer = failed(core, id, failure);
    operation.end(answer.ended());
    answer
}

/// The result of a round as it is remembered.
fn written<T: MayFail + Serialize>(
    core: &Core,
    outcome: Result<Played<T>, Failure>,
) -> Result<Bytes, Failure> {
    let written = match outcome {
        Ok(mut outcome) => {
            match &mut outcome {
                Outcome::Complete(result) => sign(core, result.meta()),
                Outcome::InputRequired(required) => sign(core, &mut required.meta),
                Outcome::Extension(_) => {}
            }
            serde_json::to_vec(&outcome)
        }
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

fn failed(core: &Core, id: RequestId, failure: Failure) -> Answer {
    match failure {
        Failure::Tool(text) => {
            let result = CallToolResult::error(text);
            Answer::signed(core, id, &Complete(result)).of_failed_tool()
        }
        failure => Answer::failed(Some(&id), &failure),
    }
}

/// Signs the result of a tool and checks it against what was promised.
pub(crate) fn finish_tool(
    core: &Core,
    name: &str,
    result: &mut CallToolResult,
) -> Result<(), Failure> {
    sign(core, &mut result.meta);
    keep_promise(core, name, result)
}

/// Checks a tool's structured content against what its list entry says.
pub(crate) fn keep_promise(
    core: &Core,
    name: &str,
    result: &CallToolResult,
) -> Result<(), Failure> {
    let entry = core.offers.tools.get(name);
    let Some(output) = entry.and_then(|entry| entry.output.as_ref()) else {
        return Ok(());
    };
    if result.is_error == Some(true) {
        return Ok(());
    }
    // TOOL-S12: what was promised is kept, or the call fails and the author hears why.
    let content = result.structured_content.as_ref();
    let content = content.and_then(|content| content.decode::<Value>().ok());
    let checked = match content {
        None => Err("there is no structured content".to_owned()),
        Some(content) => output
            .check(&content)
            .map_err(|_| "it does not fit".to_owned()),
    };
    checked.map_err(|problem| {
        tracing::error!(
            target: "sterna::server",
            tool = name,
            problem,
            "MR0204: a tool broke the promise of its output schema"
        );
        Failure::Internal
    })
}

fn finish_resource(core: &Core, uri: &str, result: &mut ReadResourceResult) -> Result<(), Failure> {
    // CACHE-S4: whatever the author says of what not everybody may read.
    if core.gate.guards("resources/read", uri) {
        result.cache_scope = Some(CacheScope::Private);
    }
    // CACHE-S1: what says nothing is stale on arrival and nobody else's.
    result.ttl_ms.get_or_insert_default();
    result.cache_scope.get_or_insert(CacheScope::Private);
    Ok(())
}

/// Says who the server is (BASE-S15).
fn sign(core: &Core, meta: &mut Option<ResultMeta>) {
    let meta = meta.get_or_insert_default();
    if meta.server_info.is_none() {
        meta.server_info = Some(core.info.clone());
    }
}
