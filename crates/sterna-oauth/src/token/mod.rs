//! Getting tokens from a token endpoint, and showing them to the MCP server.

mod dpop;
mod reply;
mod request;
mod session;

pub(crate) use dpop::{DpopKey, Nonces, nonce};
pub(crate) use reply::{Reply, Scheme};
pub(crate) use request::{TokenRequest, USE_DPOP_NONCE};
pub(crate) use session::Session;
