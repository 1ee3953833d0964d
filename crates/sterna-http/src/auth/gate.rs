//! Access to the server: anonymous, or with a credential.

use super::{AuthOutcome, Authenticator, Caller, CallerToken, Denied, ScopePolicy, bearer};
use http::HeaderMap;
use http::request::Parts;
use std::any::type_name;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// The callers that the server answers.
///
/// There is no default: a server without authentication says so.
#[derive(Clone)]
pub struct Gate {
    authenticator: Option<Arc<dyn Authenticator>>,
    scopes: ScopePolicy,
    keeps_tokens: bool,
}

impl Gate {
    /// Answers every caller, as anonymous.
    #[must_use]
    pub fn open() -> Self {
        Self {
            authenticator: None,
            scopes: ScopePolicy::default(),
            keeps_tokens: false,
        }
    }

    /// Answers those whom `authenticator` lets in.
    pub fn guarded(authenticator: impl Authenticator) -> Self {
        Self {
            authenticator: Some(Arc::new(authenticator)),
            scopes: ScopePolicy::default(),
            keeps_tokens: false,
        }
    }

    /// Answers the callers that `find` finds in the head of a request, for a
    /// server mounted in an application that authenticates its users itself.
    /// A request without a caller is refused with 401.
    ///
    /// The caller decides who may resume a call: a state or a task of one
    /// principal is refused to every other. `find` must therefore read
    /// something that a client cannot forge, such as an extension that a layer
    /// of the application adds, never a header that passes through unchecked.
    pub fn callers<C: Into<Caller>>(
        find: impl Fn(&Parts) -> Option<C> + Send + Sync + 'static,
    ) -> Self {
        Self::guarded(Application(move |head: &Parts| find(head).map(Into::into)))
    }

    /// As [`callers`](Self::callers), with the caller that `name` makes of the
    /// request's extension of type `T`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_http::auth::{Gate, Principal};
    ///
    /// #[derive(Clone)]
    /// struct User {
    ///     id: String,
    /// }
    ///
    /// let gate = Gate::callers_from_extension(|user: &User| Principal::named("shop", &user.id));
    /// # let _ = gate;
    /// ```
    pub fn callers_from_extension<T, C>(name: impl Fn(&T) -> C + Send + Sync + 'static) -> Self
    where
        T: Send + Sync + 'static,
        C: Into<Caller>,
    {
        // One line is enough to find a missing layer; a client must not fill a log.
        let told = AtomicBool::new(false);
        Self::callers(move |head| {
            let extension = head.extensions.get::<T>();
            if extension.is_none() && !told.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    target: "sterna::auth",
                    extension = type_name::<T>(),
                    "MR0210: a request has no extension that names its caller and is refused; \
                     a layer around the MCP service must add it"
                );
            }
            extension.map(&name)
        })
    }

    /// Asks for scopes too. An open gate asks for none.
    #[must_use]
    pub fn with_scopes(mut self, scopes: ScopePolicy) -> Self {
        self.scopes = scopes;
        self
    }

    /// Leaves each caller the bearer token that it showed, for a server that trades
    /// it at a token endpoint (RFC 8693) when it acts for the caller elsewhere.
    ///
    /// Without this no handler can see a token, and so none can pass it on. A
    /// token must not go to another server as it is.
    #[must_use]
    pub fn keeping_tokens(mut self) -> Self {
        self.keeps_tokens = true;
        self
    }

    /// The caller as its calls see it.
    pub(crate) fn keep_token(&self, caller: Caller, head: &HeaderMap) -> Caller {
        match bearer(head) {
            Ok(token) if self.keeps_tokens => caller.with_token(CallerToken::from(token)),
            _ => caller,
        }
    }

    pub(crate) fn authenticator(&self) -> Option<&dyn Authenticator> {
        self.authenticator.as_deref()
    }

    /// Returns `true` if lists leave out the entries that a caller may not use.
    #[must_use]
    pub fn hides(&self) -> bool {
        self.authenticator.is_some() && self.scopes.hides()
    }

    /// Returns `true` if a request for `method` on `name` needs a scope.
    #[must_use]
    pub fn guards(&self, method: &str, name: &str) -> bool {
        self.authenticator.is_some() && !self.scopes.needed(method, Some(name)).is_empty()
    }

    pub(crate) fn scopes(&self) -> &ScopePolicy {
        &self.scopes
    }
}

/// Believes the application that the server is mounted in.
struct Application<F>(F);

impl<F> Authenticator for Application<F>
where
    F: Fn(&Parts) -> Option<Caller> + Send + Sync + 'static,
{
    fn authenticate(&self, head: &Parts, _: SystemTime) -> AuthOutcome {
        (self.0)(head).ok_or(Denied::NoToken).into()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.authenticator {
            Some(_) => "guarded",
            None => "open",
        };
        write!(f, "Gate({kind}, {:?})", self.scopes)
    }
}

/// The configuration cannot be used; correct it and start again.
///
/// Its `Debug` is its text, so that a `main` that returns it says what to do.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AuthConfigError {
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    Randomness,
    /// The resource is not an absolute `http` or `https` address without query
    /// and fragment.
    #[error("{0:?} is not an absolute http or https address without query and fragment")]
    Resource(String),
    /// The file of tokens could not be read.
    #[error("the token file could not be read")]
    TokenFile(#[source] std::io::Error),
    /// A line of the token list has a token and no subject.
    #[error("line {line} of the token list names no subject")]
    Tokens {
        /// The line, counted from one.
        line: usize,
    },
}

impl fmt::Debug for AuthConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        match self {
            Self::TokenFile(cause) => write!(f, ": {cause}"),
            _ => Ok(()),
        }
    }
}
