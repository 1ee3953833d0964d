//! Dispatches requests of 2026-07-28 by their method.

use std::sync::Arc;

use sterna_http::{Admission, Inbound};
use sterna_protocol::completion::CompleteRequestParams;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::methods::{ClientRequest, Or};
use sterna_protocol::result::Complete;

use super::{AnyRequest, admit, calls, listen};
use crate::catalog::ToolEntry;
use crate::core::Core;
use crate::failure::Failure;
use crate::reply::{Answer, Reply, complete, page, refuse};
use crate::reply::{RequestEnd, RequestSpan};

/// Answers a request that has been admitted; `tool` is the one that it calls.
pub(super) fn dispatch(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    method: &'static str,
    request: Box<AnyRequest>,
    tool: Option<Arc<ToolEntry>>,
) -> Reply {
    if let Err(refusal) = inbound.admission.may(method, name_of(&request)) {
        return Reply::Ready(refuse(refusal));
    }
    let accepts = inbound.accepts;
    let mut operation = match &*request {
        // A call watches itself, for it may go on after its answer has begun.
        Or::First(
            ClientRequest::CallTool(_)
            | ClientRequest::GetPrompt(_)
            | ClientRequest::ReadResource(_),
        ) => None,
        other => begin_operation(&core, &inbound.admission, other, &id),
    };
    let (lists, admission) = (&core.cached.lists, &inbound.admission);
    let answered = match *request {
        Or::First(ClientRequest::CallTool(params)) => {
            return calls::tool(core, inbound, id, params, tool);
        }
        Or::First(ClientRequest::GetPrompt(params)) => {
            return calls::prompt(core, inbound, id, params);
        }
        Or::First(ClientRequest::ReadResource(params)) => {
            return calls::resource(core, inbound, id, params);
        }
        Or::First(ClientRequest::SubscriptionsListen(_)) if core.profile.is_serverless => {
            Err(Failure::NoListeners)
        }
        Or::First(ClientRequest::SubscriptionsListen(params)) => {
            if let Some(operation) = &mut operation {
                operation.end(RequestEnd::Done);
            }
            return Reply::pending(
                async move { listen::listen(&core, &inbound, id, params).await },
            );
        }
        Or::First(ClientRequest::Discover(_)) => Ok(Answer::cached(&id, &[&core.cached.discover])),
        Or::First(ClientRequest::ListTools(params)) if core.offers.has_tools() => {
            page(&core, admission, &id, &lists.tools, method, params.cursor)
        }
        Or::First(ClientRequest::ListPrompts(params)) if core.offers.has_prompts() => {
            page(&core, admission, &id, &lists.prompts, method, params.cursor)
        }
        Or::First(ClientRequest::ListResources(params)) if core.has_resources() => page(
            &core,
            admission,
            &id,
            &lists.resources,
            method,
            params.cursor,
        ),
        Or::First(ClientRequest::ListResourceTemplates(params)) if core.has_resources() => page(
            &core,
            admission,
            &id,
            &lists.templates,
            method,
            params.cursor,
        ),
        Or::First(ClientRequest::CompleteArgument(params)) if core.completes() => {
            let CompleteRequestParams {
                reference,
                argument,
                context,
                ..
            } = params;
            return Reply::pending(async move {
                let completing = complete(&core, &inbound.admission, reference, argument, context);
                let answered = completing.await.map(|mut result| {
                    result.meta = Some(core.result_meta());
                    Answer::done(id.clone(), &Complete(result))
                });
                end(answered, &id, operation).plain(accepts)
            });
        }
        // What was not declared is not served (PROMPT-B1).
        _ => Err(Failure::UnknownMethod(method.to_owned())),
    };
    Reply::Ready(end(answered, &id, operation).plain(accepts))
}

/// The answer to a request that is not a call, which ends with it.
fn end(
    answered: Result<Answer, Failure>,
    id: &RequestId,
    operation: Option<RequestSpan>,
) -> Answer {
    let answer = answered.unwrap_or_else(|failure| Answer::failed(Some(id), &failure));
    if let Some(mut operation) = operation {
        operation.end(answer.ended());
    }
    answer
}

/// Begins the span and the duration of a request that is not a call.
pub(super) fn begin_operation(
    core: &Arc<Core>,
    admission: &Admission,
    request: &AnyRequest,
    id: &RequestId,
) -> Option<RequestSpan> {
    let Or::First(request) = request else {
        return None;
    };
    let meta = admit::meta(request).ok()?;
    let method = request.method().as_str();
    Some(RequestSpan::begin(
        core,
        admission,
        method,
        None,
        id,
        &meta.protocol_version,
    ))
}

fn name_of(request: &AnyRequest) -> Option<&str> {
    match request {
        Or::First(ClientRequest::CallTool(params)) => Some(&params.name),
        Or::First(ClientRequest::GetPrompt(params)) => Some(&params.name),
        Or::First(ClientRequest::ReadResource(params)) => Some(&params.uri),
        _ => None,
    }
}
