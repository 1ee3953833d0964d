//! Suggestions for the value of an argument.

use std::collections::BTreeMap;
use std::sync::Arc;

use sterna_http::{Admission, catch_panic};
use sterna_protocol::completion::{
    CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
};

use crate::backend::Backed;
use crate::catalog::{Completers, CompletionRequest};
use crate::core::Core;
use crate::failure::{Failure, Kind};
use crate::wording;

/// Suggests how an argument goes on.
pub(crate) async fn complete(
    core: &Core,
    admission: &Admission,
    reference: CompletionReference,
    argument: CompletionArgument,
    context: Option<CompletionContext>,
) -> Result<CompleteResult, Failure> {
    let completed = completed(core, admission, &reference, &argument.name)?;
    if let Some(Backed {
        backend,
        sender: Some(sender),
    }) = &core.backend
    {
        let (backend, sender) = (Arc::clone(backend), sender.clone());
        let completing = catch_panic(backend.complete(sender, reference, argument, context));
        return match completing.await {
            Ok(result) => result.map_err(Failure::Handler),
            Err(_) => {
                tracing::error!(target: "sterna::server", "MR0100: the backend panicked");
                Err(Failure::Internal)
            }
        };
    }
    // COMP-S4
    let completers = completed.ok_or_else(|| {
        let (name, argument) = (
            wording::name(name_of(&reference)),
            wording::name(&argument.name),
        );
        Failure::params(format!("{name} has no argument {argument} to complete"))
    })?;
    let settled: BTreeMap<String, String> = context
        .and_then(|context| context.arguments)
        .unwrap_or_default();
    let typed = CompletionRequest::new(argument.value, settled);
    let completing = catch_panic(completers.complete(&argument.name, typed));
    let values = completing.await.map_err(|_| {
        tracing::error!(target: "sterna::handler", argument = argument.name, "a suggestion panicked");
        Failure::Internal
    })?;
    // COMP-S7: a completion cuts itself off at a hundred values.
    Ok(CompleteResult::new(Completion::new(values)))
}

/// Returns the completers of what is completed; `None` if it has no such argument.
///
/// # Errors
///
/// The caller may not use it, or it is not there.
fn completed<'a>(
    core: &'a Core,
    admission: &Admission,
    reference: &CompletionReference,
    argument: &str,
) -> Result<Option<&'a Completers>, Failure> {
    // COMP-S6: what a caller may not use is unknown to it.
    match reference {
        CompletionReference::Prompt(reference) => {
            let name = &reference.name;
            let may = |name: &str| admission.may("prompts/get", Some(name)).is_ok();
            let Some(prompt) = core.offers.prompts.get(name).filter(|_| may(name)) else {
                let prompts = core.offers.prompts.names().filter(|name| may(name));
                return Err(Failure::unknown(Kind::Template, name.clone(), prompts));
            };
            let mut arguments = prompt.wire.arguments.iter().flatten();
            let is_known = arguments.any(|known| known.name == argument);
            Ok(is_known.then_some(&prompt.completers))
        }
        CompletionReference::ResourceTemplate(reference) => {
            let name = &reference.uri;
            let may = |name: &str| admission.may("resources/read", Some(name)).is_ok();
            let Some(template) = core.offers.templates.get(name).filter(|_| may(name)) else {
                let templates = core.offers.templates.names().filter(|name| may(name));
                return Err(Failure::unknown(Kind::Template, name.clone(), templates));
            };
            let is_known = template.has_variable(argument);
            Ok(is_known.then_some(&template.completers))
        }
        _ => Err(Failure::params(
            "`ref` is neither `ref/prompt` nor `ref/resource`",
        )),
    }
}

fn name_of(reference: &CompletionReference) -> &str {
    match reference {
        CompletionReference::Prompt(reference) => &reference.name,
        CompletionReference::ResourceTemplate(reference) => &reference.uri,
        _ => "",
    }
}
