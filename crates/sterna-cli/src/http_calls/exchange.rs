//! One exchange with an HTTP server that is not trusted: bounded in size and
//! time, and with one origin only.

use std::time::Duration;

use anyhow::anyhow;
use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use reqwest::{Client, redirect};
use serde_json::Value;
use sterna_client::oauth::internal::{client_config, is_loopback};
use tokio::time::timeout;
use url::Url;

use super::request::HttpRequest;
use crate::config::Settings;
use crate::credentials::Origin;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::target::NamedBy;
use crate::text::{excerpt, one_line};
use crate::trace;

/// The server of a request, and what is sent to it with every request.
#[derive(Debug)]
pub(crate) struct HttpServer {
    client: Client,
    origin: Origin,
    credentials: HeaderMap,
    /// Reason why a token of the environment is not sent.
    held_back: Option<Failure>,
    /// Time that the server may be silent.
    silence: Duration,
    screen: Screen,
}

/// Response of a server, read to its end.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl HttpServer {
    /// The server of `url`, which nothing is sent to yet.
    pub(crate) fn of(
        url: &Url,
        named_by: &NamedBy,
        settings: &Settings,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let none = std::collections::BTreeMap::new();
        let credentials = &settings.credentials;
        let granted = credentials.for_server(url.as_str(), named_by, &none)?;
        if let Some(reason) = &granted.held_back {
            screen.detail(format!("{:#}", reason.error));
        }
        trace::own_headers(&granted.headers, screen);
        let mut tls = client_config().map_err(|error| anyhow!(error))?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut client = Client::builder();
        if is_loopback(url) {
            // What stays on this machine, a token perhaps, is not shown to a proxy.
            client = client.no_proxy();
        }
        let client = client
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("sterna/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(settings.timeout.min(LONGEST_CONNECT))
            .redirect(redirect::Policy::custom(follow))
            .build()?;
        Ok(Self {
            client,
            origin: Origin::of(url.as_str())?,
            credentials: granted.headers,
            held_back: granted.held_back,
            silence: settings.timeout,
            screen,
        })
    }

    /// Sends a request and reads its response.
    ///
    /// # Errors
    ///
    /// The request is one to another origin, the server cannot be reached, is
    /// silent for too long, or sends more than is read.
    pub(crate) async fn send(&self, request: &HttpRequest) -> Result<HttpResponse, Failure> {
        let url = request.url()?;
        if Origin::of(url.as_str())? != self.origin {
            let to = excerpt(url.as_str());
            return Err(anyhow!("`{to}` is another server than the one that was named").into());
        }
        let (method, mut headers) = (request.method()?, request.headers()?);
        for (name, value) in &self.credentials {
            headers.insert(name, value.clone());
        }
        trace::http_request(self.screen, &method, &url, &headers, request.body());
        let mut sending = self.client.request(method, url).headers(headers);
        if let Some(body) = request.body() {
            sending = sending.body(body.to_owned());
        }
        let sent = timeout(self.silence, sending.send()).await;
        let mut response = sent.map_err(|_| self.silent())?.map_err(unreachable)?;
        let mut body = Vec::new();
        loop {
            let chunk = timeout(self.silence, response.chunk()).await;
            let chunk = chunk.map_err(|_| self.silent())?.map_err(broken)?;
            let Some(chunk) = chunk else { break };
            if body.len() + chunk.len() > LARGEST_RESPONSE {
                return Err(anyhow!(
                    "the response is larger than {} MiB, and no more is read",
                    LARGEST_RESPONSE >> 20
                )
                .into());
            }
            body.extend_from_slice(&chunk);
        }
        let response = HttpResponse {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body,
        };
        trace::http_response(
            self.screen,
            response.status,
            &response.headers,
            &response.body,
        );
        Ok(response)
    }

    /// Returns the failure for a response that asks who is calling.
    pub(crate) fn unauthorized(&mut self) -> Failure {
        let asks = "the server wants to know who is calling";
        match self.held_back.take() {
            // The token that would have helped was there; say why it was not sent.
            Some(reason) => Failure {
                error: reason.error.context(asks),
                ..reason
            },
            None => Failure::new(Exit::Unauthorized, anyhow!("{asks}")).hint(
                "give a token with --bearer-file, --bearer-env or $STERNA_BEARER; \
                 with --credentials-for URL if the URL is not typed",
            ),
        }
    }

    fn silent(&self) -> Failure {
        let seconds = self.silence.as_secs_f64();
        let error = anyhow!("the server was silent for {seconds} s");
        Failure::new(Exit::TimedOut, error).hint("--timeout sets how long the server may be silent")
    }
}

impl HttpResponse {
    /// Returns the value of a header field, if it is text.
    pub(crate) fn header(&self, name: http::HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the media type, without its parameters.
    pub(crate) fn media_type(&self) -> String {
        let whole = self.header(CONTENT_TYPE).unwrap_or_default();
        let media_type = whole.split(';').next().unwrap_or_default();
        media_type.trim().to_ascii_lowercase()
    }

    /// Returns the body, if it says that it is JSON and is.
    pub(crate) fn json(&self) -> Option<Value> {
        let media_type = self.media_type();
        let is_json = media_type == "application/json" || media_type.ends_with("+json");
        is_json.then(|| serde_json::from_slice(&self.body).ok())?
    }

    /// Returns the pause that the server wants before the next request.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        // A date is not read: few servers send one.
        let seconds = self.header(RETRY_AFTER)?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// Returns the address in `Location`, on one line.
    pub(crate) fn location(&self) -> Option<&str> {
        self.header(LOCATION)
    }
}

/// Follows what keeps method and body and stays with the server.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let mut urls = attempt.previous().iter();
    let same = urls.all(|url| url.origin() == attempt.url().origin());
    let keeps = matches!(attempt.status().as_u16(), 307 | 308);
    if same && keeps && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn unreachable(error: reqwest::Error) -> Failure {
    let connected = !error.is_connect();
    let error = anyhow!(error.without_url());
    match connected {
        true => lost(error),
        false => Failure::new(
            Exit::Unreachable,
            error.context("the server cannot be reached"),
        )
        .hint("is the server running, and is the address right?"),
    }
}

fn broken(error: reqwest::Error) -> Failure {
    lost(anyhow!(error.without_url()))
}

fn lost(error: anyhow::Error) -> Failure {
    let error = anyhow!("{}", one_line(&format!("{error:#}")));
    Failure::new(Exit::Unreachable, error.context("the response was lost"))
}

const MOST_REDIRECTS: usize = 3;
const LONGEST_CONNECT: Duration = Duration::from_secs(10);

/// As large as a program at a terminal should hold; the guide has large results
/// fetched by name.
const LARGEST_RESPONSE: usize = 16 << 20;
