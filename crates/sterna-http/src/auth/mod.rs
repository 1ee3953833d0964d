//! Authentication of callers, and the scopes that a call needs.
//!
//! An [`Authenticator`] looks at the head of a request and names a [`Caller`].
//! [`ResourceServer`] does it as OAuth 2.1 says, [`StaticTokens`] with a list,
//! [`Gate::callers`] from what the application around the server knows, and a
//! server's own implementation in any other way. The [`Gate`] joins one of them
//! with a [`ScopePolicy`]; the server asks it before anything is read.

mod authenticator;
mod bearer;
mod caller;
mod claims;
mod gate;
mod jwks;
mod jws;
mod key_cache;
mod metadata;
mod resource_server;
mod scopes;
mod source;
mod static_tokens;

pub use authenticator::{AuthOutcome, Authenticator, Denied, TokenFault};
pub use bearer::bearer;
pub(crate) use bearer::challenge;
pub use caller::{Caller, CallerToken};
pub use gate::{AuthConfigError, Gate};
pub use jws::Algorithm;
pub use key_cache::KeyCacheConfig;
pub use metadata::{ResourceMetadata, ResourceUri};
pub use resource_server::{JwtConfig, ResourceServer};
pub use scopes::{ScopePolicy, Scopes};
pub use source::{JwksFile, JwksSource, Loading, SourceError};
pub use static_tokens::StaticTokens;
pub use sterna_types::Principal;
