//! Discovery: challenges, protected resource metadata, authorization servers.

mod challenge;
mod challenges;
mod resource;
mod server;

pub(crate) use challenges::Challenges;
pub(crate) use resource::{Resource, ServerUrl};
pub(crate) use server::AuthorizationServer;
