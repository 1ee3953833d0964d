//! Authorization without a person, for tests.

use http::header::LOCATION;
use reqwest::{Client, redirect};
use url::Url;

use super::{BoxError, BoxFuture, UserAgent};
use crate::http::client_config;

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
