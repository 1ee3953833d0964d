//! The three requests that may take several rounds (MRTR-S1).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use serde::Serialize;
use serde_json::Value;
use sterna_protocol::caching::CacheScope;
use sterna_protocol::input::{InputResponses, RequestState};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::{RequestMeta, ResultMeta};
use sterna_protocol::prompt::GetPromptRequestParams;
use sterna_protocol::resource::{ReadResourceRequestParams, ReadResourceResult};
use sterna_protocol::result::{Complete, Outcome};
use sterna_protocol::tool::{CallToolRequestParams, CallToolResult};

use super::write::Answer;
use crate::call::{Becoming, Facts, Request};
use crate::core::Core;
use crate::edge::{EdgeBody, Inbound, outbox, reply};
use crate::failure::{Failure, Kind};
use crate::handler::Way;
use crate::rounds::{Played, Reporter, Retry, Round, Target};
use crate::tasks::Opening;

pub(super) async fn tool(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: CallToolRequestParams,
) -> Response<EdgeBody> {
    let Some(entry) = core.offers.tools.get(&params.name) else {
        return unknown(&id, &inbound, Kind::Tool);
    };
    let input = match &params.arguments {
        Some(arguments) => arguments.decode::<Value>(),
        None => Ok(Value::Object(serde_json::Map::new())),
    };
    let Ok(input) = input else {
        let failure = Failure::Params("arguments");
        return Answer::failed(Some(&id), &failure).plain(inbound.accepts);
    };
    // TOOL-S13, TOOL-S18: the model is told, because it can mend its arguments.
    if let Err(problem) = entry.input.check(&input) {
        let mut result = CallToolResult::error(format!("The arguments are not valid: {problem}"));
        result.meta = Some(core.result_meta());
        return Answer::done(id, &Complete(result)).plain(inbound.accepts);
    }
    let tasks = core.tasks.as_ref();
    let is_first = params.request_state.is_none();
    let becomes = match entry.task.mode.decide(&params.meta.client_capabilities) {
        Ok(becomes) => becomes && tasks.is_some(),
        Err(failure) => return Answer::failed(Some(&id), &failure).plain(inbound.accepts),
    };
    if becomes
        && is_first
        && !entry.task.asks_first
        && let Some(tasks) = tasks
    {
        let opening = Opening {
            caller: inbound.pass.caller(),
            meta: params.meta,
            tool: &params.name,
            arguments: input,
            begun: None,
        };
        return match tasks.create(&core, opening).await {
            Ok(created) => Answer::done(id, &created),
            Err(failure) => Answer::failed(Some(&id), &failure),
        }
        .plain(inbound.accepts);
    }
    let arguments = params.arguments.map_or_else(
        || "{}".to_owned(),
        |arguments| arguments.as_str().to_owned(),
    );
    let way = Arc::clone(&entry.way);
    let parts = Parts {
        target: Target {
            method: "tools/call",
            name: params.name,
            arguments: Some(arguments),
            lifetimes: entry.lifetimes.unwrap_or(core.lifetimes),
        },
        input,
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        may_become_task: becomes,
    };
    run(core, inbound, id, parts, way, finish_tool).await
}

pub(super) async fn prompt(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: GetPromptRequestParams,
) -> Response<EdgeBody> {
    let Some(entry) = core.offers.prompts.get(&params.name) else {
        return unknown(&id, &inbound, Kind::Prompt);
    };
    let arguments = params.arguments.unwrap_or_default();
    if entry.missing(|name| arguments.contains_key(name)) {
        let failure = Failure::Params("a required argument is missing");
        return Answer::failed(Some(&id), &failure).plain(inbound.accepts);
    }
    let text = serde_json::to_string(&arguments).expect("a map of strings is JSON");
    let way = Arc::clone(&entry.way);
    let parts = Parts {
        target: Target {
            method: "prompts/get",
            name: params.name,
            arguments: Some(text),
            lifetimes: entry.lifetimes.unwrap_or(core.lifetimes),
        },
        input: arguments
            .into_iter()
            .map(|(name, value)| (name, Value::from(value)))
            .collect(),
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        may_become_task: false,
    };
    run(core, inbound, id, parts, way, |core, _, result| {
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
    // RES-S10: matched before any handler sees it.
    let found = match core.offers.resources.get(&params.uri) {
        Some(entry) => Some((
            Value::from(params.uri.as_str()),
            entry.lifetimes,
            Arc::clone(&entry.way),
        )),
        None => core.offers.templates.iter().find_map(|entry| {
            let input = entry.input(&params.uri)?;
            Some((input, entry.lifetimes, Arc::clone(&entry.way)))
        }),
    };
    let Some((input, lifetimes, way)) = found else {
        return unknown(&id, &inbound, Kind::Resource(params.uri));
    };
    let parts = Parts {
        target: Target {
            method: "resources/read",
            name: params.uri,
            arguments: None,
            lifetimes: lifetimes.unwrap_or(core.lifetimes),
        },
        input,
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        may_become_task: false,
    };
    run(core, inbound, id, parts, way, finish_resource).await
}

fn unknown(id: &RequestId, inbound: &Inbound, kind: Kind) -> Response<EdgeBody> {
    Answer::failed(Some(id), &Failure::Unknown(kind)).plain(inbound.accepts)
}

struct Parts {
    target: Target,
    input: Value,
    meta: RequestMeta,
    responses: Option<InputResponses>,
    state: Option<RequestState>,
    may_become_task: bool,
}

/// Plays the round and gives its outcome the shape it needs: a document, or an
/// event stream once the handler has something to say.
async fn run<T: Serialize + Send + 'static>(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    parts: Parts,
    way: Arc<Way<T>>,
    finish: fn(&Core, &str, &mut T) -> Result<(), Failure>,
) -> Response<EdgeBody> {
    let Inbound {
        head,
        pass,
        accepts,
        deadline,
        shutdown,
        ..
    } = inbound;
    let (outbox, inbox) = outbox(BUFFER);
    let reporter = Reporter::new(&parts.meta, outbox).filter(|_| accepts.events());
    let traceparent = parts.meta.traceparent.clone();
    let request = Request::new(Facts {
        core: Arc::clone(&core),
        meta: parts.meta,
        pass,
        extensions: head.extensions,
        reporter: reporter.map(Arc::new),
        mistake: OnceLock::new(),
        becoming: Becoming::allowed(parts.may_become_task),
    });
    let name = parts.target.name.clone();
    let round = Round {
        core: Arc::clone(&core),
        request,
        target: parts.target,
        input: Arc::new(parts.input),
        responses: parts.responses,
        state: parts.state,
        traceparent,
        shutdown,
    };
    let call = Box::pin(async move {
        let entering = tokio::time::timeout_at(deadline.into(), round.enter()).await;
        let ticket = match entering.unwrap_or(Err(Failure::TimedOut)) {
            Ok(Retry::Play(ticket)) => ticket,
            Ok(Retry::Again(response)) => return Answer::cached(&id, &[&response]),
            Err(failure) => return Answer::failed(Some(&id), &failure),
        };
        let playing = tokio::time::timeout_at(deadline.into(), round.play(&way));
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
                Err(failure) => Err(failure),
            };
            return match left {
                Ok(response) => Answer::cached(&id, &[&response]),
                Err(failure) => Answer::failed(Some(&id), &failure),
            };
        }
        match outcome {
            Ok(Outcome::Complete(result)) => Answer::done(id, &Complete(result)),
            Ok(Outcome::InputRequired(required)) => Answer::done(id, &required),
            Ok(Outcome::Extension(created)) => Answer::done(id, &created),
            Err(Failure::Tool(text)) => {
                let mut result = CallToolResult::error(text);
                sign(&core, &mut result.meta);
                Answer::done(id, &Complete(result))
            }
            Err(failure) => Answer::failed(Some(&id), &failure),
        }
    });
    if !accepts.events() {
        return call.await.plain(accepts);
    }
    reply::running(
        call,
        inbox,
        PATIENCE,
        move |answer| answer.plain(accepts),
        Answer::event,
    )
    .await
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

/// Signs the result of a tool and checks it against what was promised.
pub(crate) fn finish_tool(
    core: &Core,
    name: &str,
    result: &mut CallToolResult,
) -> Result<(), Failure> {
    sign(core, &mut result.meta);
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

fn finish_resource(core: &Core, _: &str, result: &mut ReadResourceResult) -> Result<(), Failure> {
    sign(core, &mut result.meta);
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

/// What a reader of progress may lag behind.
const BUFFER: usize = 64 << 10;

/// How long a silent call is waited for before its answer becomes a stream,
/// which comments keep alive. Far below the minute of common proxies.
const PATIENCE: Duration = Duration::from_secs(10);
