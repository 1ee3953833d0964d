//! From a request to whatever answers it.

use std::collections::BTreeMap;
use std::sync::Arc;

use sterna_protocol::completion::{
    CompleteRequestParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference,
};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::methods::ClientRequest;
use sterna_protocol::result::Complete;

use super::lists::List;
use super::served::Served;
use super::write::Answer;
use super::{admit, calls, listen};
use crate::core::Core;
use crate::edge::guarded::guarded;
use crate::edge::{Inbound, Pass};
use crate::failure::{Failure, Kind};
use crate::offer::{ToolEntry, Typed};
use crate::telemetry::{Ended, Operation};

/// Answers a request that has been admitted; `tool` is the one that it calls.
pub(super) fn dispatch(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    request: ClientRequest,
    tool: Option<Arc<ToolEntry>>,
) -> Served {
    let (method, name) = (request.method().as_str(), name_of(&request));
    if let Err(refusal) = inbound.pass.may(method, name) {
        return Served::Now(refusal.into_response());
    }
    let accepts = inbound.accepts;
    let mut operation = match &request {
        // A call watches itself, for it may go on after its answer has begun.
        ClientRequest::CallTool(_)
        | ClientRequest::GetPrompt(_)
        | ClientRequest::ReadResource(_) => None,
        other => watch(&core, &inbound.pass, other, &id),
    };
    let (lists, pass) = (&core.shown.lists, &inbound.pass);
    let answered = match request {
        ClientRequest::CallTool(params) => return calls::tool(core, inbound, id, params, tool),
        ClientRequest::GetPrompt(params) => return calls::prompt(core, inbound, id, params),
        ClientRequest::ReadResource(params) => return calls::resource(core, inbound, id, params),
        ClientRequest::SubscriptionsListen(params) => {
            if let Some(operation) = &mut operation {
                operation.end(Ended::Done);
            }
            return Served::later(async move { listen::listen(&core, &inbound, id, params).await });
        }
        ClientRequest::Discover(_) => Ok(Answer::cached(&id, &[&core.shown.discover])),
        ClientRequest::ListTools(params) if core.offers.has_tools() => {
            page(&core, pass, &id, &lists.tools, method, params.cursor)
        }
        ClientRequest::ListPrompts(params) if core.offers.has_prompts() => {
            page(&core, pass, &id, &lists.prompts, method, params.cursor)
        }
        ClientRequest::ListResources(params) if core.has_resources() => {
            page(&core, pass, &id, &lists.resources, method, params.cursor)
        }
        ClientRequest::ListResourceTemplates(params) if core.has_resources() => {
            page(&core, pass, &id, &lists.templates, method, params.cursor)
        }
        ClientRequest::CompleteArgument(params) if core.completes() => {
            let CompleteRequestParams {
                reference,
                argument,
                context,
                ..
            } = params;
            return Served::later(async move {
                let completing = complete(&core, &inbound.pass, reference, argument, context);
                let answered = completing.await.map(|mut result| {
                    result.meta = Some(core.result_meta());
                    Answer::done(id.clone(), &Complete(result))
                });
                end(answered, &id, operation).plain(accepts)
            });
        }
        // What was not declared is not served (PROMPT-B1).
        _ => Err(Failure::UnknownMethod),
    };
    Served::Now(end(answered, &id, operation).plain(accepts))
}

/// The answer to a request that is not a call, which ends with it.
fn end(answered: Result<Answer, Failure>, id: &RequestId, operation: Option<Operation>) -> Answer {
    let answer = answered.unwrap_or_else(|failure| Answer::failed(Some(id), &failure));
    if let Some(mut operation) = operation {
        operation.end(answer.ended());
    }
    answer
}

/// Watches a request from here to its answer.
pub(super) fn watch(
    core: &Arc<Core>,
    pass: &Pass,
    request: &ClientRequest,
    id: &RequestId,
) -> Option<Operation> {
    let meta = admit::meta(request).ok()?;
    let method = request.method().as_str();
    Some(Operation::begin(
        core,
        pass,
        method,
        None,
        id,
        &meta.protocol_version,
    ))
}

fn name_of(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallTool(params) => Some(&params.name),
        ClientRequest::GetPrompt(params) => Some(&params.name),
        ClientRequest::ReadResource(params) => Some(&params.uri),
        _ => None,
    }
}

/// One page of a list as an answer.
pub(crate) fn page(
    core: &Core,
    pass: &Pass,
    id: &RequestId,
    list: &List,
    method: &'static str,
    cursor: Option<String>,
) -> Result<Answer, Failure> {
    let visible;
    let list = if pass.hides() {
        // TOOL-S2, PROMPT-S2, RES-S2
        let used_by = match method {
            "prompts/list" => "prompts/get",
            "tools/list" => "tools/call",
            _ => "resources/read",
        };
        visible = list.only(|name| pass.may(used_by, Some(name)).is_ok());
        &visible
    } else {
        list
    };
    let (page, next) = list.page(core, method, cursor.as_deref())?;
    Ok(match next {
        None => Answer::cached(id, &[page, b"}"]),
        // A token has no character that JSON would escape.
        Some(next) => Answer::cached(
            id,
            &[page, br#","nextCursor":""#, next.as_bytes(), br#""}"#],
        ),
    })
}

/// Suggests how an argument goes on.
pub(crate) async fn complete(
    core: &Core,
    pass: &Pass,
    reference: CompletionReference,
    argument: CompletionArgument,
    context: Option<CompletionContext>,
) -> Result<CompleteResult, Failure> {
    let unknown = || Failure::Unknown(Kind::Template);
    // COMP-S6: what a caller may not use is unknown to it.
    let may = |method, name: &str| pass.may(method, Some(name)).map_err(|_| unknown());
    let completers = match &reference {
        CompletionReference::Prompt(reference) => {
            may("prompts/get", &reference.name)?;
            let prompt = core
                .offers
                .prompts
                .get(&reference.name)
                .ok_or_else(unknown)?;
            let mut arguments = prompt.wire.arguments.iter().flatten();
            // COMP-S4
            if !arguments.any(|known| known.name == argument.name) {
                return Err(Failure::Params("argument"));
            }
            &prompt.completers
        }
        CompletionReference::ResourceTemplate(reference) => {
            may("resources/read", &reference.uri)?;
            let template = core
                .offers
                .templates
                .get(&reference.uri)
                .ok_or_else(unknown)?;
            if !template.has_variable(&argument.name) {
                return Err(Failure::Params("argument"));
            }
            &template.completers
        }
        _ => return Err(unknown()),
    };
    let settled: BTreeMap<String, String> = context
        .and_then(|context| context.arguments)
        .unwrap_or_default();
    let typed = Typed::new(argument.value, settled);
    let completing = guarded(completers.complete(&argument.name, typed));
    let values = completing.await.map_err(|_| {
        tracing::error!(target: "sterna::handler", argument = argument.name, "a suggestion panicked");
        Failure::Internal
    })?;
    // COMP-S7: a completion cuts itself off at a hundred values.
    Ok(CompleteResult::new(Completion::new(values)))
}
