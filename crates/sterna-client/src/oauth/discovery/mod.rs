//! Finding out what a server wants and who can give it.

mod challenge;
mod demand;
mod resource;
mod server;

pub(super) use demand::Demand;
pub(super) use resource::{Resource, ServerUrl};
pub(super) use server::AuthorizationServer;
