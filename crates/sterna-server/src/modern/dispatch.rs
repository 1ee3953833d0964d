//! From a request to whatever answers it.

use std::collections::BTreeMap;
use std::sync::Arc;

use sterna_http::{Admission, Inbound, catch_panic};
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
use crate::failure::{Failure, Kind};
use crate::http::refuse;
use crate::offer::{ToolEntry, Typed};
use crate::telemetry::{Ended, Operation};
use crate::wording;

/// Answers a request that has been admitted; `tool` is the one that it calls.
pub(super) fn dispatch(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    request: ClientRequest,
    tool: Option<Arc<ToolEntry>>,
) -> Served {
    let (method, name) = (request.method().as_str(), name_of(&request));
    if let Err(refusal) = inbound.admission.may(method, name) {
        return Served::Now(refuse(refusal));
    }
    let accepts = inbound.accepts;
    let mut operation = match &request {
        // A call watches itself, for it may go on after its answer has begun.
        ClientRequest::CallTool(_)
        | ClientRequest::GetPrompt(_)
        | ClientRequest::ReadResource(_) => None,
        other => watch(&core, &inbound.admission, other, &id),
    };
    let (lists, admission) = (&core.shown.lists, &inbound.admission);
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
            page(&core, admission, &id, &lists.tools, method, params.cursor)
        }
        ClientRequest::ListPrompts(params) if core.offers.has_prompts() => {
            page(&core, admission, &id, &lists.prompts, method, params.cursor)
        }
        ClientRequest::ListResources(params) if core.has_resources() => page(
            &core,
            admission,
            &id,
            &lists.resources,
            method,
            params.cursor,
        ),
        ClientRequest::ListResourceTemplates(params) if core.has_resources() => page(
            &core,
            admission,
            &id,
            &lists.templates,
            method,
            params.cursor,
        ),
        ClientRequest::CompleteArgument(params) if core.completes() => {
            let CompleteRequestParams {
                reference,
                argument,
                context,
                ..
            } = params;
            return Served::later(async move {
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
    admission: &Admission,
    request: &ClientRequest,
    id: &RequestId,
) -> Option<Operation> {
    let meta = admit::meta(request).ok()?;
    let method = request.method().as_str();
    Some(Operation::begin(
        core,
        admission,
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
    admission: &Admission,
    id: &RequestId,
    list: &List,
    method: &'static str,
    cursor: Option<String>,
) -> Result<Answer, Failure> {
    let visible;
    let list = if admission.hides() {
        // TOOL-S2, PROMPT-S2, RES-S2
        let used_by = match method {
            "prompts/list" => "prompts/get",
            "tools/list" => "tools/call",
            _ => "resources/read",
        };
        visible = list.only(|name| admission.may(used_by, Some(name)).is_ok());
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
    admission: &Admission,
    reference: CompletionReference,
    argument: CompletionArgument,
    context: Option<CompletionContext>,
) -> Result<CompleteResult, Failure> {
    // COMP-S6: what a caller may not use is unknown to it.
    let (name, completers) = match &reference {
        CompletionReference::Prompt(reference) => {
            let name = &reference.name;
            let may = |name: &str| admission.may("prompts/get", Some(name)).is_ok();
            let Some(prompt) = core.offers.prompts.get(name).filter(|_| may(name)) else {
                let prompts = core.offers.prompts.names().filter(|name| may(name));
                return Err(Failure::unknown(Kind::Template, name.clone(), prompts));
            };
            let mut arguments = prompt.wire.arguments.iter().flatten();
            let is_known = arguments.any(|known| known.name == argument.name);
            (name, is_known.then_some(&prompt.completers))
        }
        CompletionReference::ResourceTemplate(reference) => {
            let name = &reference.uri;
            let may = |name: &str| admission.may("resources/read", Some(name)).is_ok();
            let Some(template) = core.offers.templates.get(name).filter(|_| may(name)) else {
                let templates = core.offers.templates.names().filter(|name| may(name));
                return Err(Failure::unknown(Kind::Template, name.clone(), templates));
            };
            let is_known = template.has_variable(&argument.name);
            (name, is_known.then_some(&template.completers))
        }
        _ => {
            return Err(Failure::params(
                "`ref` is neither `ref/prompt` nor `ref/resource`",
            ));
        }
    };
    // COMP-S4
    let completers = completers.ok_or_else(|| {
        let (name, argument) = (wording::name(name), wording::name(&argument.name));
        Failure::params(format!("{name} has no argument {argument} to complete"))
    })?;
    let settled: BTreeMap<String, String> = context
        .and_then(|context| context.arguments)
        .unwrap_or_default();
    let typed = Typed::new(argument.value, settled);
    let completing = catch_panic(completers.complete(&argument.name, typed));
    let values = completing.await.map_err(|_| {
        tracing::error!(target: "sterna::handler", argument = argument.name, "a suggestion panicked");
        Failure::Internal
    })?;
    // COMP-S7: a completion cuts itself off at a hundred values.
    Ok(CompleteResult::new(Completion::new(values)))
}
