//! Whether a server may ask what it asks.

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::InputRequests;

use crate::error::{Error, Fault, printable};

/// Refuses questions that were never `declared`, and more than anybody asks.
pub(crate) fn admit(asked: &InputRequests, declared: &ClientCapabilities) -> Result<(), Error> {
    if asked.len() > MOST_QUESTIONS {
        return Err(Fault::Broken("more questions than anybody asks at once").into());
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
        None => Ok(()),
    }
}

/// Every question may open a window in front of somebody.
const MOST_QUESTIONS: usize = 100;
