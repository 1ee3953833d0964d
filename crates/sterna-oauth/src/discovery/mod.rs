//! Discovery: challenges, protected resource metadata, authorization servers.

mod challenge;
mod challenges;
mod issuer;
mod resource;
mod server;

pub(crate) use challenges::Challenges;
pub use issuer::TokenIssuer;
pub(crate) use resource::{Resource, ServerUrl};
pub(crate) use server::AuthorizationServer;
