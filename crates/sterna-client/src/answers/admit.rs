//! Checks of a server's questions.

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::elicitation::ElicitRequestParams;
use sterna_protocol::input::{InputRequest, InputRequests};

use crate::error::{Error, Fault, printable};
use crate::schema::Dialect;

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

/// Refuses a form in an unsupported dialect (BASE-B15). The few keywords a form has are the same in all others.
pub(super) fn legible(key: &str, request: &InputRequest) -> Result<(), Error> {
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
