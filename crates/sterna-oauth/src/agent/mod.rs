//! The user's browser, as far as authorization needs it.

mod headless;
mod loopback;

pub use headless::Headless;
pub use loopback::Loopback;

use std::sync::Arc;

use crate::BoxFuture;
use crate::error::BoxError;

/// Takes the user to an authorization server and brings the answer back.
///
/// [`Loopback`] does it for programs that run on the user's machine. An editor
/// or a web application implements it with its own redirect URI.
///
/// # Examples
///
/// A web application whose callback route hands the redirect over:
///
/// ```
/// use sterna_oauth::{BoxError, BoxFuture, UserAgent};
///
/// struct Site;
///
/// impl UserAgent for Site {
///     fn redirect_uri(&self) -> BoxFuture<'_, Result<String, BoxError>> {
///         Box::pin(async { Ok("https://app.example/callback".to_owned()) })
///     }
///     fn visit<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, BoxError>> {
///         Box::pin(async move { wait_for_callback(url).await })
///     }
/// }
///
/// # async fn wait_for_callback(_: &str) -> Result<String, BoxError> { Err("no redirect came".into()) }
/// ```
pub trait UserAgent: Send + Sync {
    /// Says where the user shall be sent back to.
    ///
    /// Called at the start of each authorization; the URI must be https or on
    /// this machine, and work until [`visit`](Self::visit) has returned.
    fn redirect_uri(&self) -> BoxFuture<'_, Result<String, BoxError>>;

    /// Opens `authorization_url` for the user and returns the URL the user was
    /// sent back to, query and all, as it came.
    ///
    /// The caller checks its content. A dropped future ends the wait.
    fn visit<'a>(&'a self, authorization_url: &'a str) -> BoxFuture<'a, Result<String, BoxError>>;
}

/// One agent may serve several MCP servers.
impl<T: UserAgent + ?Sized> UserAgent for Arc<T> {
    fn redirect_uri(&self) -> BoxFuture<'_, Result<String, BoxError>> {
        (**self).redirect_uri()
    }

    fn visit<'a>(&'a self, authorization_url: &'a str) -> BoxFuture<'a, Result<String, BoxError>> {
        (**self).visit(authorization_url)
    }
}
