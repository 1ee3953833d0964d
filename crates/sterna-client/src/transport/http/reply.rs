//! The answer to a POST: one message, a stream of them, or none.

use std::time::Duration;

use futures::future::BoxFuture;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::Response;
use sterna_protocol::jsonrpc::Message;

use super::super::{Exchange, Source};
use super::events::{Events, StreamResumption};
use crate::error::{Error, Fault};

/// Finds out what kind of answer it is; the messages are read later.
pub(super) async fn read(
    mut response: Response,
    max_message: usize,
    resume: Option<StreamResumption>,
) -> Result<Exchange, Error> {
    let stream = is_stream(&response);
    let success = response.status().is_success();
    let status = Some(response.status());
    let headers = std::mem::take(response.headers_mut());
    let media = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let source: Box<dyn Source> = match media.map(media_type) {
        _ if stream => Box::new(Events::new(response, max_message, resume)),
        Some(media) if success && media.eq_ignore_ascii_case(b"application/json") => {
            Box::new(Body::new(response, max_message))
        }
        None if success => Box::new(Body::new(response, max_message)),
        Some(_) if success => return Err(Fault::Broken("neither JSON nor an event stream").into()),
        _ => {
            // HTTP-C15: an MCP error may stand behind any status.
            let refusal = Fault::Status {
                status: response.status().as_u16(),
                retry_after: retry_after(&headers),
            };
            let body = Body::new(response, max_message).whole().await?;
            if !matches!(Message::raw(&body), Ok(Message::Error(_))) {
                return Err(refusal.into());
            }
            Box::new(Once(Some(body)))
        }
    };
    Ok(Exchange {
        status,
        headers,
        source,
    })
}

/// Returns true for a stream of messages.
pub(super) fn is_stream(response: &Response) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    let media = media.map(|value| media_type(value.as_bytes()));
    response.status().is_success()
        && media.is_some_and(|media| media.eq_ignore_ascii_case(b"text/event-stream"))
}

/// The refusal that a status alone is.
pub(super) fn status(response: &Response) -> Fault {
    Fault::Status {
        status: response.status().as_u16(),
        retry_after: retry_after(response.headers()),
    }
}

fn media_type(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';');
    value[..end.unwrap_or(value.len())].trim_ascii()
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

pub(super) fn broken(error: reqwest::Error) -> Fault {
    Fault::Unreachable(error.without_url().into())
}

/// A message that has arrived.
struct Once(Option<Vec<u8>>);

impl Source for Once {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async { Ok(self.0.take()) })
    }
}

/// One message, the whole body.
struct Body {
    response: Option<Response>,
    read: Vec<u8>,
    max_message: usize,
}

impl Body {
    fn new(response: Response, max_message: usize) -> Self {
        Self {
            response: Some(response),
            read: Vec::new(),
            max_message,
        }
    }

    /// Reads to the end; what was read stays here if the caller gives up.
    async fn whole(&mut self) -> Result<Vec<u8>, Error> {
        let limit = self.max_message;
        if let Some(response) = &mut self.response {
            while let Some(chunk) = response.chunk().await.map_err(broken)? {
                if chunk.len() > limit.saturating_sub(self.read.len()) {
                    let what = "answer";
                    return Err(Fault::TooLarge { what, limit }.into());
                }
                self.read.extend_from_slice(&chunk);
            }
        }
        self.response = None;
        Ok(std::mem::take(&mut self.read))
    }
}

impl Source for Body {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            let body = self.whole().await?;
            Ok(Some(body).filter(|body| !body.trim_ascii().is_empty()))
        })
    }
}
