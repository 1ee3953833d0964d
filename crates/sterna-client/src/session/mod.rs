//! Servers of the revisions with an `initialize` handshake.

mod asides;
mod asking;
mod log;
mod news;
mod open;
mod recall;
mod servant;
mod station;
mod watch;

pub(crate) use open::Session;
pub(crate) use servant::{RELATED_TASK, Servant};
