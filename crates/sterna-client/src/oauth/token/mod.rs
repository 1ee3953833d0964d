//! Getting tokens from a token endpoint, and showing them to the MCP server.

mod dpop;
mod form;
mod reply;
mod request;
mod session;

pub(super) use dpop::{DpopKey, Nonces, nonce};
pub(super) use form::Form;
pub(super) use reply::{Reply, Scheme};
pub(super) use request::{TokenRequest, USE_DPOP_NONCE};
pub(super) use session::{Lifetime, Session};
