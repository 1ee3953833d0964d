//! Checks of questions before they are asked, and of answers before they are sent.

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputRequests, InputResponse};
use sterna_protocol::roots::Root;

use crate::error::{Error, Fault, InvalidAnswer, printable};
use crate::schema::Dialect;

/// Checks an answer, fills in defaults, and removes content of a refusal.
pub(crate) fn check(
    key: &str,
    request: &InputRequest,
    response: InputResponse,
) -> Result<InputResponse, Error> {
    fit(request, response).map_err(|source| {
        let key = key.to_owned();
        Fault::InvalidAnswer { key, source }.into()
    })
}

fn fit(request: &InputRequest, response: InputResponse) -> Result<InputResponse, InvalidAnswer> {
    match (request, response) {
        (InputRequest::Elicit(asked), InputResponse::Elicit(result)) => {
            elicited(&asked.params, result).map(InputResponse::Elicit)
        }
        (InputRequest::CreateMessage(_), response @ InputResponse::CreateMessage(_)) => {
            Ok(response)
        }
        (InputRequest::ListRoots(_), InputResponse::ListRoots(result)) => {
            // ROOT-C2: a server may take a root at its word.
            match result.roots.iter().all(is_sound) {
                true => Ok(InputResponse::ListRoots(result)),
                false => Err(InvalidAnswer::Root),
            }
        }
        _ => Err(InvalidAnswer::Kind),
    }
}

fn elicited(
    asked: &ElicitRequestParams,
    mut result: ElicitResult,
) -> Result<ElicitResult, InvalidAnswer> {
    match (&result.action, asked) {
        (ElicitAction::Accept, ElicitRequestParams::Form(form)) => {
            let content = result.content.take().ok_or(InvalidAnswer::NoContent)?;
            // ELICIT-C5, ELICIT-C8: defaults are filled in, rules are kept.
            result.content = Some(form.requested_schema.check(content)?);
            Ok(result)
        }
        (ElicitAction::Accept | ElicitAction::Cancel | ElicitAction::Decline, _) => {
            result.content = None;
            Ok(result)
        }
        _ => Err(InvalidAnswer::Kind),
    }
}

/// A file URI that stays where it says it is, however its dots are spelled.
fn is_sound(root: &Root) -> bool {
    let climbs = |segment: &str| {
        let plain = segment.replace("%2e", ".").replace("%2E", ".");
        plain == ".."
    };
    root.is_file() && !root.uri.split(['/', '\\']).any(climbs)
}

/// Refuses questions that were not `declared`, and more than the limit.
pub(crate) fn admit(asked: &InputRequests, declared: &ClientCapabilities) -> Result<(), Error> {
    if asked.len() > MOST_QUESTIONS {
        return Err(Fault::Broken("more than 100 questions at once").into());
    }
    let undeclared = asked
        .iter()
        .find(|(_, request)| declared.missing(&request.required_capabilities()).is_some());
    match undeclared {
        Some((key, request)) => Err(Fault::NoHandler {
            key: printable(key),
            method: request.method(),
        }
        .into()),
        None => asked
            .iter()
            .try_for_each(|(key, request)| legible(key, request)),
    }
}

/// Refuses a form in an unsupported dialect (BASE-B15). The few keywords of a
/// form are the same in all supported ones.
pub(crate) fn legible(key: &str, request: &InputRequest) -> Result<(), Error> {
    let InputRequest::Elicit(asked) = request else {
        return Ok(());
    };
    let ElicitRequestParams::Form(form) = &asked.params else {
        return Ok(());
    };
    let named = form.requested_schema.schema.as_deref();
    match named.map(Dialect::named) {
        Some(Err(source)) => {
            let what = format!("the form `{}`", printable(key));
            Err(Fault::Dialect { what, source }.into())
        }
        Some(Ok(_)) | None => Ok(()),
    }
}

/// Every question may open a window in front of the user.
const MOST_QUESTIONS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_that_climbs_out_of_itself_is_not_sent() {
        for uri in [
            "file:///srv/../etc",
            "file:///srv/%2e%2E/etc",
            "file:///srv/.%2e",
            "https://a.example",
            "/srv",
        ] {
            assert!(!is_sound(&Root::new(uri)), "{uri}");
        }
        for uri in ["file:///srv", "file:///srv/a..b/...", "file:///srv/.git"] {
            assert!(is_sound(&Root::new(uri)), "{uri}");
        }
    }
}
