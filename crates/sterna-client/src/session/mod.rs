//! Servers of the revisions with an `initialize` handshake.

mod background;
mod broadcast;
mod listener;
mod open;
mod open_questions;
mod server_requests;
mod subscriptions;

pub(crate) use open::Session;
pub(crate) use server_requests::{RELATED_TASK, ServerRequests};
