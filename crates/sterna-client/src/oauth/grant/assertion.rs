//! Tokens that others issue and that vouch for us.

use std::sync::Arc;

use crate::oauth::BoxFuture;
use crate::oauth::error::BoxError;
use crate::oauth::secret::Secret;

/// Gives a fresh assertion about who we are: a workload's token from its
/// platform, or a user's ID token from an identity provider.
///
/// A [`Secret`] is a source that always gives itself.
///
/// # Examples
///
/// A platform that renews a token in a file:
///
/// ```
/// use sterna_client::oauth::{AssertionSource, BoxError, BoxFuture, Secret};
///
/// struct Projected(std::path::PathBuf);
///
/// impl AssertionSource for Projected {
///     fn assertion<'a>(&'a self, _audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
///         Box::pin(async { Ok(Secret::from(std::fs::read_to_string(&self.0)?)) })
///     }
/// }
/// ```
pub trait AssertionSource: Send + Sync {
    /// Returns an assertion that will be shown to the issuer `audience`.
    fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>>;
}

impl AssertionSource for Secret {
    fn assertion<'a>(&'a self, _audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        Box::pin(async { Ok(self.clone()) })
    }
}

/// One source may serve several MCP servers.
impl<T: AssertionSource + ?Sized> AssertionSource for Arc<T> {
    fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        (**self).assertion(audience)
    }
}
