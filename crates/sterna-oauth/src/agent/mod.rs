//! The user's browser, as far as authorization needs it.

mod loopback;

use std::sync::Arc;

use http::header::LOCATION;
use reqwest::{Client, redirect};
use url::Url;

pub use loopback::Loopback;

use crate::BoxFuture;
use crate::error::BoxError;
use crate::http::client_config;

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

/// Follows redirects itself until one leads to the redirect URI.
///
/// For authorization servers without user interaction, as those of tests do;
/// nothing needs to listen at the redirect URI.
#[derive(Debug)]
pub struct Headless {
    redirect_uri: String,
}

impl Headless {
    /// An agent that waits to be sent to `redirect_uri`.
    pub fn new(redirect_uri: impl Into<String>) -> Self {
        Self {
            redirect_uri: redirect_uri.into(),
        }
    }

    async fn follow(&self, authorization_url: &str) -> Result<String, BoxError> {
        let client = Client::builder()
            .tls_backend_preconfigured(client_config()?)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()?;
        let mut place = Url::parse(authorization_url)?;
        for _ in 0..MAX_REDIRECTS {
            let answer = client.get(place.clone()).send().await?;
            let target = answer.headers().get(LOCATION);
            let target = target.ok_or("the authorization server wants to talk to a person")?;
            let target = target.to_str()?;
            if target.starts_with(&self.redirect_uri) {
                return Ok(target.to_owned());
            }
            place = place.join(target)?;
        }
        Err("the authorization server redirects without end".into())
    }
}

impl UserAgent for Headless {
    fn redirect_uri(&self) -> BoxFuture<'_, Result<String, BoxError>> {
        Box::pin(async { Ok(self.redirect_uri.clone()) })
    }

    fn visit<'a>(&'a self, authorization_url: &'a str) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(self.follow(authorization_url))
    }
}

const MAX_REDIRECTS: usize = 10;
