//! Servers of the revisions with an `initialize` handshake.

mod open;
mod servant;
mod station;

pub(crate) use open::Session;
pub(crate) use servant::Servant;
