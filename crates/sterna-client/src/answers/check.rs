//! Checks of an answer against its question.

use sterna_protocol::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::roots::Root;

use crate::error::{Error, Fault, InvalidAnswer};

/// Looks an answer over, fills in defaults, and takes out what is not wanted.
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
