//! Errors: the failed step, the reason, and the remedy.

mod fault;

use std::fmt;
use std::sync::Arc;

pub use fault::BoxError;
pub(crate) use fault::Fault;

/// Authorization did not succeed.
///
/// Its text names the step, what happened there and the remedy. It never holds
/// a token, a code or a password. One failed flow may answer several waiting
/// requests, so it can be cloned.
#[derive(Clone)]
pub struct Error {
    inner: Arc<Inner>,
}

struct Inner {
    step: Step,
    fault: Fault,
}

impl Error {
    pub(crate) fn new(step: Step, fault: Fault) -> Self {
        Self {
            inner: Arc::new(Inner { step, fault }),
        }
    }

    /// Says who must act.
    pub fn kind(&self) -> ErrorKind {
        match self.inner.fault.kind() {
            // Before the first request there is no peer yet: the value came from the application.
            ErrorKind::Peer if self.inner.step == Step::Setup => ErrorKind::Misuse,
            kind => kind,
        }
    }

    /// Says how far authorization had come.
    pub fn step(&self) -> Step {
        self.inner.step
    }

    /// The remedy, in one sentence for a person.
    pub fn remedy(&self) -> &'static str {
        self.inner.fault.remedy()
    }

    /// The OAuth error code, if an authorization server sent one (`invalid_grant`, `access_denied`, …).
    pub fn code(&self) -> Option<&str> {
        match &self.inner.fault {
            Fault::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// Returns true if a token endpoint refused, so that the same request fails again.
    pub(crate) fn is_refusal(&self) -> bool {
        match self.inner.fault {
            Fault::Refused { .. } => true,
            Fault::Status(status) => (400..500).contains(&status) && status != 429,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { step, fault } = &*self.inner;
        write!(f, "{step}: {fault}; {}", fault.remedy())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("step", &self.step())
            .field("fault", &self.inner.fault)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.inner.fault)
    }
}

/// Party that must act on an [`Error`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user or the authorization server said no; asking again without a change is useless.
    Denied,
    /// Something broke on this machine.
    Internal,
    /// The application has configured or called this module wrongly.
    Misuse,
    /// A server broke the rules, or tried something it must not get away with.
    Peer,
    /// A server could not be reached or answered that it is out of order; try again later.
    Unavailable,
}

/// Step of the authorization that failed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Building the [`OAuth`](crate::OAuth) value.
    Setup,
    /// A request to the MCP server.
    Request,
    /// Asking the MCP server which authorization servers it trusts.
    ResourceMetadata,
    /// Asking an authorization server about itself.
    ServerMetadata,
    /// Introducing this client to the authorization server.
    Registration,
    /// The user's visit to the authorization server.
    Authorization,
    /// Trading the user's identity for a grant at the enterprise's identity provider.
    TokenExchange,
    /// Trading a grant for an access token.
    Token,
    /// Renewing an access token.
    Refresh,
    /// Reading or writing the credential store.
    Store,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setup => "setup",
            Self::Request => "request",
            Self::ResourceMetadata => "resource metadata",
            Self::ServerMetadata => "authorization server metadata",
            Self::Registration => "client registration",
            Self::Authorization => "user authorization",
            Self::TokenExchange => "token exchange",
            Self::Token => "token request",
            Self::Refresh => "token refresh",
            Self::Store => "credential store",
        })
    }
}

/// Names the step at which a fault happened.
pub(crate) trait At<T> {
    fn at(self, step: Step) -> Result<T, Error>;
}

impl<T> At<T> for Result<T, Fault> {
    fn at(self, step: Step) -> Result<T, Error> {
        self.map_err(|fault| Error::new(step, fault))
    }
}
