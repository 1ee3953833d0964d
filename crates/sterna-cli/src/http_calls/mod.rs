//! Requests to HTTP APIs whose routes may ask: sent, answered and resumed.

mod exchange;
mod request;

mod reply;

mod operation;
mod saved;

mod rounds;

mod follow;

pub(crate) use exchange::{HttpResponse, HttpServer};
pub(crate) use request::HttpRequest;
pub(crate) use rounds::{HttpEnd, HttpRounds};
pub(crate) use saved::SavedRequest;
