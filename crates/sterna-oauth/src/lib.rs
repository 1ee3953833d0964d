//! OAuth 2.1 for MCP clients: getting, keeping and renewing access tokens.
//!
//! An [`OAuth`] value belongs to one MCP server. It discovers the authorization
//! servers that the MCP server trusts, gets a token from one of them with the
//! configured [`Grant`], keeps it in a [`CredentialStore`] and renews it before
//! it expires.
//!
//! The crate reads and writes no MCP messages, so any HTTP client can use it. A
//! transport asks an [`Attempt`] for header fields before it sends a request,
//! and shows it each response.
//!
//! ```
//! use http::{HeaderMap, Method, StatusCode, Uri};
//! use sterna_oauth::{Error, OAuth, RetryDecision};
//!
//! async fn call(oauth: &OAuth, uri: &Uri) -> Result<StatusCode, Error> {
//!     let mut attempt = oauth.attempt();
//!     loop {
//!         let fields = attempt.authorize(&Method::POST, uri).await?;
//!         let (status, headers) = send(uri, fields).await;
//!         if attempt.review(status, &headers).await? == RetryDecision::Deliver {
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
//! use sterna_oauth::{AuthorizationCode, ClientMetadata, Loopback, OAuth};
//!
//! let browser = Loopback::new(|url| {
//!     println!("Please sign in at {url}");
//!     Ok(())
//! });
//! let user = AuthorizationCode::new(browser).dynamic_registration(ClientMetadata::new("My tool"));
//! let oauth = OAuth::builder("https://mcp.example/mcp", user).build()?;
//! # Ok::<_, sterna_oauth::Error>(())
//! ```
//!
//! # Guarantees
//!
//! - Everything goes over https. Plain http is accepted only if the MCP server
//!   itself is on this machine, and then only to this machine.
//! - An authorization server must name itself in its metadata exactly as the
//!   MCP server names it, must support PKCE with S256, and is believed in a
//!   redirect only with our `state` and its `iss`.
//! - Credentials are sent only to the issuer they come from, tokens only to the
//!   resource they were issued for.
//! - Resource identifiers and issuers are sent and compared byte for byte.
//! - Answers are bounded in size and time, redirects in number, and
//!   authorizations per request in number.

// Modules use those above them, never those below.
mod error;
mod printable;
mod secret;

mod clock;
mod config;
mod document;
mod endpoint;
mod scope;

mod form;
mod http;

mod agent;
mod discovery;

mod client;

mod token;

mod store;

mod grant;

mod token_manager;

mod attempt;

mod builder;

use std::pin::Pin;

pub use agent::{Headless, Loopback, UserAgent};
pub use attempt::{Attempt, RetryDecision};
pub use builder::{Builder, OAuth};
pub use client::{ClientAuth, ClientMetadata, Registration, SigningKey};
pub use config::{Config, Dpop, MissingMetadata};
pub use discovery::TokenIssuer;
pub use error::{BoxError, Error, ErrorKind, Step};
pub use grant::{
    AssertionSource, AuthorizationCode, ClientCredentials, EnterpriseManaged, Grant,
    IdentityProvider, TokenExchange, WorkloadIdentity,
};
pub use secret::Secret;
pub use store::{CredentialKey, CredentialStore, MemoryStore};

/// Parts that `sterna-client` shares. They are not covered by version numbers.
#[doc(hidden)]
pub mod internal {
    pub use crate::endpoint::is_loopback;
    pub use crate::http::client_config;
    pub use crate::printable::{is_separator, is_unprintable, printable};
}

/// A future behind a pointer, as traits with `dyn` need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
