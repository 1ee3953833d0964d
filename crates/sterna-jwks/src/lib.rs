//! Fetches an authorization server's keys over HTTPS.
//!
//! A crate of its own, so that a server whose keys are in a file, or that has
//! no keys at all, does not carry a TLS client.
//!
//! ```no_run
//! use sterna_jwks::JwksUrl;
//! use sterna_http::auth::{JwtConfig, ResourceServer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let keys = JwksUrl::new("https://login.example.com/.well-known/jwks.json")?;
//! let server = ResourceServer::new(
//!     "https://mcp.example.com/mcp",
//!     "https://login.example.com",
//!     keys,
//!     JwtConfig::default(),
//! )?;
//! # let _ = server; Ok(()) }
//! ```

mod fetch;
mod url;

mod issuer;

pub use issuer::IssuerKeys;
pub use url::{JwksUrl, UrlError};
