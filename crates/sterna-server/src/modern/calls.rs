//! The three requests that may take several rounds (MRTR-S1).

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use sterna_http::{Inbound, reply};
use sterna_protocol::input::{InputResponses, RequestState};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::prompt::GetPromptRequestParams;
use sterna_protocol::resource::ReadResourceRequestParams;
use sterna_protocol::tool::{CallToolRequestParams, CallToolResult};

use super::outcome::{MayFail, early, serve};
use super::promise::{finish_resource, keep_promise};
use super::served::Served;
use super::write::Answer;
use crate::call::{Becoming, Facts, Headers, Request};
use crate::core::Core;
use crate::cx::Posed;
use crate::failure::Failure;
use crate::offer::ToolEntry;
use crate::rounds::{Reporter, Round, Wanted};
use crate::sink::MessageSink;
use crate::tasks::{self, Opening, Wish};
use crate::telemetry::Operation;

pub(super) fn tool(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: CallToolRequestParams,
    entry: Option<Arc<ToolEntry>>,
) -> Served {
    let admission = &inbound.admission;
    let wanted = match Wanted::tool(
        &core,
        admission,
        entry.as_deref(),
        params.name,
        params.arguments,
    ) {
        Ok(wanted) => wanted,
        Err(failure) => {
            let answer =
                early::<CallToolResult>(&core, &inbound.admission, id, &params.meta, failure);
            return Served::Now(answer.plain(inbound.accepts));
        }
    };
    let plan = entry
        .as_ref()
        .map_or_else(Default::default, |entry| entry.task);
    let capabilities = &params.meta.client_capabilities;
    let wish = match tasks::wish(&core, plan.mode, capabilities, &params.extra) {
        Ok(wish) => wish,
        Err(failure) => {
            let answer =
                early::<CallToolResult>(&core, &inbound.admission, id, &params.meta, failure);
            return Served::Now(answer.plain(inbound.accepts));
        }
    };
    if let Some(wish) = wish
        && params.request_state.is_none()
        && !plan.asks_first
        && let Some(tasks) = core.tasks.clone()
    {
        let tool = Some(wanted.target.name.as_str());
        let version = &params.meta.protocol_version;
        let mut operation =
            Operation::begin(&core, &inbound.admission, "tools/call", tool, &id, version);
        return Served::later(async move {
            let opening = Opening {
                caller: inbound.admission.caller(),
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
            answer.plain(inbound.accepts)
        });
    }
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        wish,
    };
    let finish = move |core: &Core, result: &mut CallToolResult| match &entry {
        Some(tool) => keep_promise(core, tool, result),
        None => Ok(()),
    };
    run(core, inbound, id, Ok(wanted), sent, finish)
}

pub(super) fn prompt(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: GetPromptRequestParams,
) -> Served {
    let wanted = Wanted::prompt(&core, &inbound.admission, params.name, params.arguments);
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        wish: None,
    };
    run(core, inbound, id, wanted, sent, |_, _| Ok(()))
}

pub(super) fn resource(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    params: ReadResourceRequestParams,
) -> Served {
    let uri = params.uri.clone();
    let wanted = Wanted::resource(&core, &inbound.admission, params.uri);
    let sent = Sent {
        meta: params.meta,
        responses: params.input_responses,
        state: params.request_state,
        wish: None,
    };
    run(core, inbound, id, wanted, sent, move |core, result| {
        finish_resource(core, &uri, result);
        Ok(())
    })
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
fn run<T: MayFail + Serialize + Send + 'static>(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    wanted: Result<Wanted<T>, Failure>,
    sent: Sent,
    finish: impl FnOnce(&Core, &mut T) -> Result<(), Failure> + Send + 'static,
) -> Served {
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(failure) => {
            let answer = early::<T>(&core, &inbound.admission, id, &sent.meta, failure);
            return Served::Now(answer.plain(inbound.accepts));
        }
    };
    let target = &wanted.target;
    let version = &sent.meta.protocol_version;
    let (admission, name) = (&inbound.admission, Some(target.name.as_str()));
    let mut operation = Operation::begin(&core, admission, target.method, name, &id, version);
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
    let request = Request::new(Facts {
        core: Arc::clone(&core),
        meta: sent.meta,
        admission,
        extensions: head.extensions,
        headers: Headers::Own(head.headers),
        reporter: reporter.map(Arc::new),
        mistake: OnceLock::new(),
        place: OnceLock::new(),
        becoming: Becoming::wishing(sent.wish),
        posed: Posed::default(),
    });
    let round = Box::new(Round {
        core: Arc::clone(&core),
        request,
        target: wanted.target,
        input: Arc::new(wanted.input),
        responses: sent.responses,
        state: sent.state,
        traceparent,
        shutdown,
        entered: None,
    });
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
        return Served::later(async move { call.await.plain(accepts) });
    }
    Served::later(reply::respond_or_stream(
        call,
        inbox,
        patience,
        move |answer| answer.plain(accepts),
        move |answer| answer.last_of(transport),
    ))
}
