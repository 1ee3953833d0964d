//! The plug point that says who is calling.

use std::pin::Pin;
use std::time::SystemTime;

use http::request::Parts;

use super::{Caller, ResourceMetadata, Scopes};

/// Says who sent a request.
///
/// # Examples
///
/// A server behind a proxy that has already checked the user:
///
/// ```
/// use std::time::SystemTime;
/// use http::request::Parts;
/// use sterna_http::auth::{Authenticator, Caller, Denied, Principal, AuthOutcome};
///
/// #[derive(Debug)]
/// struct TrustedProxy;
///
/// impl Authenticator for TrustedProxy {
///     fn authenticate(&self, head: &Parts, _now: SystemTime) -> AuthOutcome {
///         match head.headers.get("x-user").and_then(|user| user.to_str().ok()) {
///             Some(user) => AuthOutcome::Known(Principal::named("proxy", user).into()),
///             None => AuthOutcome::Denied(Denied::NoToken),
///         }
///     }
/// }
/// ```
pub trait Authenticator: Send + Sync + 'static {
    /// Judges the credential in a request's head. The body is not there yet:
    /// no unknown caller makes the server buffer anything.
    fn authenticate(&self, head: &Parts, now: SystemTime) -> AuthOutcome;

    /// The document that tells a client where to get a token, if tokens are
    /// got from an authorization server.
    fn metadata(&self) -> Option<&ResourceMetadata> {
        None
    }
}

/// The result of an [`Authenticator`].
#[non_exhaustive]
pub enum AuthOutcome {
    /// The credential is good.
    Known(Caller),
    /// It is not.
    Denied(Denied),
    /// It cannot be said without waiting, for example for a key.
    Later(Pin<Box<dyn Future<Output = Result<Caller, Denied>> + Send>>),
}

impl AuthOutcome {
    /// Puts the judgement off until `judgement` has finished.
    pub fn later(judgement: impl Future<Output = Result<Caller, Denied>> + Send + 'static) -> Self {
        Self::Later(Box::pin(judgement))
    }
}

impl From<Result<Caller, Denied>> for AuthOutcome {
    fn from(result: Result<Caller, Denied>) -> Self {
        match result {
            Ok(caller) => Self::Known(caller),
            Err(denied) => Self::Denied(denied),
        }
    }
}

impl std::fmt::Debug for AuthOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(caller) => f.debug_tuple("Known").field(caller).finish(),
            Self::Denied(denied) => f.debug_tuple("Denied").field(denied).finish(),
            Self::Later(_) => f.write_str("Later(..)"),
        }
    }
}

/// The reason a caller is not let in.
///
/// The peer learns the kind, because OAuth clients act on it, and nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// The credential is good, but not for this: 403, naming what is needed.
    InsufficientScope(Scopes),
    /// The credential could not be read: 400.
    InvalidRequest,
    /// The credential was read and not accepted: 401.
    InvalidToken(TokenFault),
    /// There is no credential: 401.
    NoToken,
    /// It cannot be judged just now, for example because no key could be
    /// fetched: 503. A 401 would make the client throw a good token away.
    Unavailable,
}

/// Which check a token did not pass. For the log, never for the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenFault {
    /// Its algorithm is not allowed, or not one its key can be used with.
    Algorithm,
    /// It was issued for another resource.
    Audience,
    /// Its time is over.
    Expired,
    /// Its issuer is not trusted.
    Issuer,
    /// It is not a token of a kind we accept.
    Malformed,
    /// Its time has not come.
    NotYetValid,
    /// Its signature does not fit.
    Signature,
    /// It does not say whom it names.
    Subject,
    /// It is not one we have given out.
    Unknown,
    /// Its issuer has no such key.
    UnknownKey,
}
