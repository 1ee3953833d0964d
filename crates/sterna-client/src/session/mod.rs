//! Servers of the revisions with an `initialize` handshake.

mod asking;
mod log;
mod news;
mod open;
mod servant;
mod station;
mod watch;

pub(crate) use open::Session;
pub(crate) use servant::{RELATED_TASK, Servant};
