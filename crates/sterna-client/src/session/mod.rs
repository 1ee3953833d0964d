//! Servers of the revisions with an `initialize` handshake.

mod asked;
mod background;
mod broadcast;
mod cookies;
mod held;
mod listener;
mod open;
mod open_call;
mod open_questions;
mod running_calls;
mod server_requests;
mod subscriptions;

pub(crate) use background::cancellation;
pub use held::HeldReason;
pub(crate) use open::Session;
pub(crate) use open_call::{OpenCall, Reached, WaitFor};
pub(crate) use server_requests::{RELATED_TASK, ServerRequests};
