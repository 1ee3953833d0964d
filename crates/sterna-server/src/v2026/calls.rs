//! Requests that may take several rounds (MRTR-S1): tools, prompts, resources.

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use sterna_http::Inbound;
use sterna_protocol::caching::CacheScope;
use sterna_protocol::input::{InputResponses, RequestState};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::prompt::{GetPromptRequestParams, GetPromptResult};
use sterna_protocol::resource::{ReadResourceRequestParams, ReadResourceResult};
use sterna_protocol::tool::{CallToolRequestParams, CallToolResult};

use super::outcome::{reject, serve};
use super::task_request::requested_task;
use crate::call::Reporter;
use crate::call::{Headers, Request, RequestInner, TaskPromotion};
use crate::catalog::ToolEntry;
use crate::core::Core;
use crate::cx::PendingQuestions;
use crate::failure::Failure;
use crate::reply::RequestSpan;
use crate::reply::{Answer, CallResult, PendingCall, Reply, check_output};
use crate::rounds::{Round, Wanted};
use crate::sink::MessageSink;
use crate::task_mode::TaskOptions;
use crate::tasks::NewTaskRequest;

pub(super) fn tool(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: CallToolRequestParams,
    entry: Option<Arc<ToolEntry>>,
) -> Reply {
    let admission = &inbound.admission;
    let mut wanted = match Wanted::tool(
        &core,
        admission,
        entry.as_deref(),
        params.name,
        params.arguments,
    ) {
        Ok(wanted) => wanted,
        Err(failure) => {
            return rejected::<CallToolResult>(&core, &inbound, id, &params.meta, failure);
        }
    };
    let plan = entry
        .as_ref()
        .map_or_else(Default::default, |entry| entry.task);
    let capabilities = &params.meta.client_capabilities;
    let options = match requested_task(&core, plan.mode, capabilities, &params.extra) {
        Ok(options) => options,
        Err(failure) => {
            return rejected::<CallToolResult>(&core, &inbound, id, &params.meta, failure);
        }
    };
    if let Some(options) = options
        && params.request_state.is_none()
        && !plan.task_on_demand
        && let Some(tasks) = core.tasks.clone()
    {
        let tool = Some(wanted.target.name.as_str());
        let version = &params.meta.protocol_version;
        let mut operation =
            RequestSpan::begin(&core, &inbound.admission, "tools/call", tool, &id, version);
        return Reply::pending(async move {
            let arguments = wanted.take_tree();
            let opening = NewTaskRequest {
                caller: inbound.admission.caller(),
                meta: params.meta,
                tool: &wanted.target.name,
                arguments,
                tool_ttl: plan.ttl,
                ttl: options.ttl,
                begun: None,
            };
            let answer = match tasks.create(opening, options, core.result_meta()).await {
                Ok(created) => Answer::done(id, &created),
                Err(failure) => Answer::failed(Some(&id), &failure),
            };
            operation.end(answer.ended());
            answer.plain(inbound.accepts)
        });
    }
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        options,
    };
    let finish = move |core: &Core, result: &mut CallToolResult| match &entry {
        Some(tool) => check_output(core, tool, result),
        None => Ok(()),
    };
    run(core, inbound, id, wanted, sent, finish)
}

pub(super) fn prompt(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: GetPromptRequestParams,
) -> Reply {
    let wanted = Wanted::prompt(&core, &inbound.admission, params.name, params.arguments);
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(failure) => {
            return rejected::<GetPromptResult>(&core, &inbound, id, &params.meta, failure);
        }
    };
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        options: None,
    };
    run(core, inbound, id, wanted, sent, |_, _| Ok(()))
}

pub(super) fn resource(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: ReadResourceRequestParams,
) -> Reply {
    let uri = params.uri.clone();
    let wanted = match Wanted::resource(&core, &inbound.admission, params.uri) {
        Ok(wanted) => wanted,
        Err(failure) => {
            return rejected::<ReadResourceResult>(&core, &inbound, id, &params.meta, failure);
        }
    };
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        options: None,
    };
    run(core, inbound, id, wanted, sent, move |core, result| {
        finish_resource(core, &uri, result);
        Ok(())
    })
}

/// Parts of a request besides its target and its arguments.
struct Sent {
    meta: RequestMeta,
    responses: Option<InputResponses>,
    state: Option<RequestState>,
    options: Option<TaskOptions>,
}

/// Plays the round and gives its outcome the shape it needs: a document, or an
/// event stream once the handler has something to say.
fn run<T: CallResult + Serialize + Send + 'static>(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    wanted: Wanted<T>,
    sent: Sent,
    finish: impl FnOnce(&Core, &mut T) -> Result<(), Failure> + Send + 'static,
) -> Reply {
    let target = &wanted.target;
    let version = &sent.meta.protocol_version;
    let (admission, name) = (&inbound.admission, Some(target.name.as_str()));
    let mut operation = RequestSpan::begin(&core, admission, target.method, name, &id, version);
    // Most clients want to hear nothing before the answer, and need no queue for it.
    let hears = inbound.accepts.events() && Reporter::is_wanted(&sent.meta);
    let (outbox, inbox) = hears.then(|| inbound.outbox()).unzip();
    let (patience, transport) = (inbound.patience, inbound.transport);
    let Inbound {
        head,
        admission,
        accepts,
        deadline,
        shutdown,
        ..
    } = inbound;
    let reporter =
        outbox.and_then(|outbox| Reporter::new(&sent.meta, MessageSink::new(outbox, transport)));
    let traceparent = sent.meta.traceparent.clone();
    let request = Request::new(RequestInner {
        environment: Arc::clone(&core.environment),
        meta: sent.meta,
        admission,
        extensions: head.extensions,
        headers: Headers::Own(head.headers),
        reporter: reporter.map(Arc::new),
        mistake: OnceLock::new(),
        position: OnceLock::new(),
        promotion: TaskPromotion::with(sent.options),
        pending: PendingQuestions::default(),
    });
    let round = Box::new(Round {
        core: Arc::clone(&core),
        request,
        target: wanted.target,
        tree: wanted.tree.map(Arc::new),
        responses: sent.responses,
        state: sent.state,
        traceparent,
        shutdown,
        entered: None,
    });
    let call = Box::pin(async move {
        // Pinned first, so that wrappers move a pointer and not the call.
        let serving = pin!(async {
            let answer = serve(round, &wanted.way, deadline, id, finish).await;
            let ended = answer.ended();
            (answer, Some(ended))
        });
        operation.instrument(serving).await
    });
    if !accepts.events() {
        return Reply::pending(async move { call.await.plain(accepts) });
    }
    Reply::Call(PendingCall {
        call,
        inbox,
        patience,
        accepts,
        transport,
    })
}

/// Reply to a call that fails before its handler runs.
fn rejected<T: CallResult>(
    core: &Arc<Core>,
    inbound: &Inbound,
    id: RequestId,
    meta: &RequestMeta,
    failure: Failure,
) -> Reply {
    let answer = reject::<T>(core, &inbound.admission, id, meta, failure);
    Reply::Ready(answer.plain(inbound.accepts))
}

fn finish_resource(core: &Core, uri: &str, result: &mut ReadResourceResult) {
    // CACHE-S4: a resource that not every caller may read is private.
    if core.gate.guards("resources/read", uri) {
        result.cache_scope = Some(CacheScope::Private);
    }
    // CACHE-S1: without settings, a result is stale on arrival and private.
    result.ttl_ms.get_or_insert_default();
    result.cache_scope.get_or_insert(CacheScope::Private);
}
