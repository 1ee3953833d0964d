use std::error::Error as _;
use std::fmt;

use sterna_protocol::jsonrpc::DecodeError;
use thiserror::Error;

use super::printable;

/// Why a message of the server cannot be read, and where it breaks off.
///
/// The decoder's own words may quote the message, and with it a prompt or a
/// state (SAMP-B4): of them nothing is kept but the name of a missing field.
#[derive(Debug, Error)]
pub(crate) struct Unreadable {
    what: String,
    why: String,
}

impl From<DecodeError> for Unreadable {
    fn from(error: DecodeError) -> Self {
        let cause = error
            .source()
            .and_then(|cause| cause.downcast_ref::<serde_json::Error>());
        let why = cause.map(|cause| {
            let told = cause.to_string();
            match told.starts_with("missing field `") {
                true => format!(": {}", printable(&told)),
                false => format!(" at line {} column {}", cause.line(), cause.column()),
            }
        });
        Self {
            what: printable(&error.to_string()),
            why: why.unwrap_or_default(),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what, self.why)
    }
}
