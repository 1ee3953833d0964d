//! The three requests that may take several rounds (MRTR-S1).

use std::sync::{Arc, OnceLock};

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
use tokio::time::{Instant, timeout_at};

use super::write::Answer;
use crate::call::{Becoming, Facts, Request};
use crate::core::Core;
use crate::cx::Posed;
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
        let answer = match tasks.create(&core, opening, wish).await {
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
    run(core, inbound, id, Ok(wanted), sent, finish_tool).await
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
    run(core, inbound, id, wanted, sent, |core, _, result| {
        sign(core, &mut result.meta);
        Ok(())
    })
    .await
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
    finish: fn(&Core, &str, &mut T) -> Result<(), Failure>,
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
    let call = Box::pin(operation.watch(async move {
        let answer = serve(round, &wanted.way, deadline.into(), id, finish).await;
        let ended = answer.ended();
        (answer, Some(ended))
    }));
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

/// Plays the round to its answer, or finds the answer that it had before.
async fn serve<T: MayFail + Serialize + Send + 'static>(
    round: Round,
    way: &Way<T>,
    deadline: Instant,
    id: RequestId,
    finish: fn(&Core, &str, &mut T) -> Result<(), Failure>,
) -> Answer {
    let core = Arc::clone(&round.core);
    let name = round.target.name.clone();
    let entering = timeout_at(deadline, round.enter()).await;
    let ticket = match entering.unwrap_or(Err(Failure::TimedOut)) {
        Ok(Retry::Play(ticket)) => ticket,
        Ok(Retry::Again(response)) => return Answer::cached(&id, &[&response]),
        Err(failure) => return Answer::failed(Some(&id), &failure),
    };
    let playing = timeout_at(deadline, round.play(way));
    let played = match &ticket {
        None => playing.await,
        Some(ticket) => ticket.keep(playing).await,
    };
    let outcome = match played {
        Err(_) => Err(Failure::TimedOut),
        Ok(Ok(Outcome::Complete(mut result))) => {
            finish(&core, &name, &mut result).map(|()| Outcome::Complete(result))
        }
        Ok(outcome) => outcome,
    };
    if let Some(ticket) = ticket {
        let left = match written(&core, outcome) {
            Ok(response) => ticket.leave(response).await,
            Err(failure) => {
                ticket.release().await;
                Err(failure)
            }
        };
        return match left {
            Ok(response) => Answer::cached(&id, &[&response]),
            Err(failure) => Answer::failed(Some(&id), &failure),
        };
    }
    match outcome {
        Ok(Outcome::Complete(result)) if result.is_failed_tool() => {
            Answer::done(id, &Complete(result)).of_failed_tool()
        }
        Ok(Outcome::Complete(result)) => Answer::done(id, &Complete(result)),
        Ok(Outcome::InputRequired(required)) => Answer::done(id, &required),
        Ok(Outcome::Extension(created)) => Answer::done(id, &created),
        Err(failure) => failed(&core, id, failure),
    }
}

/// A result that may itself say that something failed.
pub(crate) trait MayFail {
    /// What it is the result of.
    const METHOD: &'static str;

    fn is_failed_tool(&self) -> bool {
        false
    }
}

impl MayFail for CallToolResult {
    const METHOD: &'static str = "tools/call";

    fn is_failed_tool(&self) -> bool {
        self.is_error == Some(true)
    }
}

impl MayFail for GetPromptResult {
    const METHOD: &'static str = "prompts/get";
}

impl MayFail for ReadResourceResult {
    const METHOD: &'static str = "resources/read";
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
fn written<T: Serialize>(
    core: &Core,
    outcome: Result<Played<T>, Failure>,
) -> Result<Bytes, Failure> {
    let written = match outcome {
        Ok(outcome) => serde_json::to_vec(&outcome),
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
            let mut result = CallToolResult::error(text);
            sign(core, &mut result.meta);
            Answer::done(id, &Complete(result)).of_failed_tool()
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
    sign(core, &mut result.meta);
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
