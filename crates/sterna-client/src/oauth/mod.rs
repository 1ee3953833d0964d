//! OAuth 2.1 for MCP clients: getting, keeping and renewing access tokens.
//!
//! An [`OAuth`] value belongs to one MCP server. It finds out whom the server
//! trusts, gets a token there by the configured [`Grant`], keeps it in a
//! [`CredentialStore`] and renews it in time. A transport needs to know nothing
//! of this: it asks for header fields before each try of a request and shows
//! each answer.
//!
//! ```
//! use http::{HeaderMap, Method, StatusCode, Uri};
//! use sterna_client::oauth::{Error, OAuth, Verdict};
//!
//! async fn call(oauth: &OAuth, uri: &Uri) -> Result<StatusCode, Error> {
//!     let mut attempt = oauth.attempt();
//!     loop {
//!         let fields = attempt.authorize(&Method::POST, uri).await?;
//!         let (status, headers) = send(uri, fields).await;
//!         if attempt.review(status, &headers).await? == Verdict::Deliver {
//!             return Ok(status);
//!         }
//!     }
//! }
//! # async fn send(_: &Uri, _: HeaderMap) -> (StatusCode, HeaderMap) { (StatusCode::OK, HeaderMap::new()) }
//! ```
//!
//! A program on a user's machine signs the user in with the system's browser:
//!
//! ```
//! use sterna_client::oauth::{AuthorizationCode, ClientMetadata, Loopback, OAuth};
//!
//! let browser = Loopback::new(|url| {
//!     println!("Please sign in at {url}");
//!     Ok(())
//! });
//! let user = AuthorizationCode::new(browser).dynamic_registration(ClientMetadata::new("My tool"));
//! let oauth = OAuth::builder("https://mcp.example/mcp", user).build()?;
//! # Ok::<_, sterna_client::oauth::Error>(())
//! ```
//!
//! # What it insists on
//!
//! - Everything goes over https. Plain http is accepted only if the MCP server
//!   itself is on this machine, and then only to this machine.
//! - An authorization server must name itself in its metadata exactly as the
//!   MCP server names it, must support PKCE with S256, and is believed in a
//!   redirect only with our `state` and its `iss`.
//! - Credentials belong to the issuer they come from, tokens to the resource
//!   they were issued for. Neither is shown to anybody else.
//! - Resource identifiers and issuers are sent and compared byte for byte.
//! - Answers are bounded in size and time, redirects in number, and
//!   authorizations per request in number.

mod agent;
mod attempt;
mod builder;
mod client;
mod config;
mod discovery;
mod document;
mod endpoint;
mod error;
mod grant;
mod http;
mod jwt;
mod keeper;
mod random;
mod scope;
mod secret;
mod store;
mod token;

use std::pin::Pin;

pub use agent::{Headless, Loopback, UserAgent};
pub use attempt::{Attempt, Verdict};
pub use builder::{Builder, OAuth};
pub use client::{ClientAuth, ClientMetadata, Registration, SigningKey};
pub use config::{Config, Dpop, MissingMetadata};
pub use error::{BoxError, Error, ErrorKind, Step};
pub use grant::{
    AssertionSource, AuthorizationCode, ClientCredentials, EnterpriseManaged, Grant,
    IdentityProvider, WorkloadIdentity,
};
pub use secret::Secret;
pub use store::{CredentialKey, CredentialStore, MemoryStore};

/// A future behind a pointer, as traits with `dyn` need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
