//! Streamable HTTP: every message a POST of its own.

mod events;
mod reply;
mod resumed;

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use reqwest::{Client, Response, redirect};
use sterna_oauth::internal::{client_config, is_loopback};
use sterna_oauth::{Attempt, OAuth, RetryDecision};
use sterna_protocol::http::MCP_METHOD;
use url::Url;

use self::events::StreamResumption;
use self::resumed::ResumedStream;
use super::{Exchange, Outgoing, Transport};
use crate::error::{Error, Fault, printable};

/// The session of a legacy server.
pub(crate) const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// One MCP endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    client: Client,
    url: Url,
    uri: Uri,
    auth: Option<OAuth>,
    /// Headers that the application adds to every request.
    headers: HeaderMap,
    max_message: usize,
}

impl Http {
    pub(crate) fn new(
        url: &str,
        auth: Option<OAuth>,
        mut headers: HeaderMap,
        connect_timeout: Duration,
        max_message: usize,
    ) -> Result<Self, Error> {
        // AUTHSEC-B2: an API key may be among them.
        headers
            .values_mut()
            .for_each(|value| value.set_sensitive(true));
        let bad = || Fault::Url(printable(url));
        let parsed = Url::parse(url).map_err(|_| bad())?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.fragment().is_some() {
            return Err(bad().into());
        }
        let uri = url.parse().map_err(|_| bad())?;
        let mut tls = client_config().map_err(|error| Fault::Tls(error.into()))?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut client = Client::builder();
        if is_loopback(&parsed) {
            // What stays on this machine, a token perhaps, is not shown to a proxy.
            client = client.no_proxy();
        }
        let client = client
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("sterna/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect_timeout)
            .tcp_keepalive(Duration::from_secs(30))
            .redirect(redirect::Policy::custom(follow))
            .build()
            .map_err(|error| Fault::Tls(error.into()))?;
        Ok(Self {
            client,
            url: parsed,
            uri,
            auth,
            headers,
            max_message,
        })
    }

    /// Sends a request, again where the authorization asks for it.
    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, Error> {
        let body = Bytes::from(body);
        let mut attempt = self.auth.as_ref().map(OAuth::attempt);
        loop {
            let sent = self.send_once(&method, &headers, &body, attempt.as_mut());
            let response = sent.await?;
            let verdict = match &mut attempt {
                Some(attempt) => {
                    attempt
                        .review(response.status(), response.headers())
                        .await?
                }
                None => RetryDecision::Deliver,
            };
            if verdict == RetryDecision::Deliver {
                return Ok(response);
            }
        }
    }

    /// Sends a request with the token that is at hand, without a sign-in.
    async fn send_once(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: &Bytes,
        attempt: Option<&mut Attempt>,
    ) -> Result<Response, Error> {
        let mut request = self
            .client
            .request(method.clone(), self.url.clone())
            .headers(self.headers.clone())
            .headers(self.with_own_cookies(headers))
            .body(body.clone());
        if let Some(attempt) = attempt {
            request = request.headers(attempt.authorize(method, &self.uri).await?);
        }
        let response = request.send().await;
        response.map_err(|error| Fault::Unreachable(error.without_url().into()).into())
    }

    /// Header fields of a session whose cookies do not displace those of the
    /// application.
    fn with_own_cookies(&self, headers: &HeaderMap) -> HeaderMap {
        let mut headers = headers.clone();
        if let (Some(own), Some(session)) = (self.headers.get(COOKIE), headers.get(COOKIE)) {
            let both = [own.as_bytes(), session.as_bytes()].join(&b"; "[..]);
            if let Ok(mut both) = HeaderValue::from_bytes(&both) {
                both.set_sensitive(true);
                headers.insert(COOKIE, both);
            }
        }
        headers
    }

    async fn post(&self, message: Outgoing) -> Result<Response, Error> {
        let headers = posted(message.headers);
        self.send(Method::POST, headers, message.body).await
    }

    async fn get(&self, mut headers: HeaderMap) -> Result<Response, Error> {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.send(Method::GET, headers, Vec::new()).await
    }
}

impl Transport for Http {
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>> {
        Box::pin(async move {
            // The one header that every modern request has and no legacy one.
            let legacy = !request.headers.contains_key(MCP_METHOD);
            let resume =
                legacy.then(|| StreamResumption::new(self.clone(), request.headers.clone()));
            let response = self.post(request).await?;
            reply::read(response, self.max_message, resume).await
        })
    }

    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let response = self.post(message).await?;
            accepted(&response)
        })
    }

    fn notify_best_effort(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let headers = posted(message.headers);
            let body = Bytes::from(message.body);
            let mut attempt = self.auth.as_ref().map(OAuth::attempt);
            let sent = self.send_once(&Method::POST, &headers, &body, attempt.as_mut());
            accepted(&sent.await?)
        })
    }

    fn open_server_stream(
        &self,
        headers: HeaderMap,
    ) -> BoxFuture<'_, Result<Option<Exchange>, Error>> {
        Box::pin(async move {
            let response = self.get(headers).await?;
            match response.status().as_u16() {
                // A server without such a stream says so by one of these.
                404 | 405 | 501 => Ok(None),
                _ => reply::read(response, self.max_message, None)
                    .await
                    .map(Some),
            }
        })
    }

    fn resume_stream(&self, headers: HeaderMap, event_id: &str) -> Result<Exchange, Error> {
        let stream = ResumedStream::new(self.clone(), headers, event_id)?;
        Ok(Exchange::new(stream))
    }

    fn close(&self, headers: HeaderMap) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if headers.contains_key(MCP_SESSION_ID) {
                // A server may keep its sessions from being ended; there is nothing to do about it.
                let mut attempt = self.auth.as_ref().map(OAuth::attempt);
                let nothing = Bytes::new();
                let ended = self.send_once(&Method::DELETE, &headers, &nothing, attempt.as_mut());
                tokio::time::timeout(FAREWELL, ended).await.ok();
            }
        })
    }

    fn has_headers(&self) -> bool {
        true
    }

    fn endpoint(&self) -> &str {
        self.url.as_str()
    }
}

/// The header fields of a POST.
fn posted(mut headers: HeaderMap) -> HeaderMap {
    // HTTP-C2: the server chooses between the two.
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}

fn accepted(response: &Response) -> Result<(), Error> {
    match response.status().is_success() {
        true => Ok(()),
        false => Err(reply::status(response).into()),
    }
}

/// Follows what keeps the method and stays with the server: a trailing slash
/// is forgiven, a request goes to no other origin.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let same = attempt
        .previous()
        .iter()
        .all(|url| url.origin() == attempt.url().origin());
    let keeps = matches!(attempt.status().as_u16(), 307 | 308);
    if same && keeps && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

const MAX_REDIRECTS: usize = 3;
/// Longest wait for the end of a session.
const FAREWELL: Duration = Duration::from_secs(5);
