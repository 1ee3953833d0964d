//! The stream of a request that another connection made, from where that one
//! stopped.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue};
use reqwest::Response;
use sterna_protocol::sse::EventReader;
use tokio::time::{Instant, timeout_at};

use super::super::Source;
use super::events::{LAST_EVENT_ID, PAUSE, SHORTEST_PAUSE, resume_point};
use super::{Http, reply};
use crate::error::{Error, Fault, is_transient};

/// Events after an id, polled for: some servers replay what they have stored and
/// send later events to the next GET only.
pub(super) struct ResumedStream {
    http: Http,
    headers: HeaderMap,
    reader: EventReader,
    response: Option<Response>,
    chunk: Bytes,
    /// Longest silence on one connection.
    patience: Duration,
    /// When the connection has been silent for too long.
    silent_at: Instant,
    /// When the next connection may be opened.
    due: Instant,
    /// A connection has been open before.
    opened: bool,
    /// Attempts that failed since the last event.
    failures: u32,
}

impl ResumedStream {
    pub(super) fn new(http: Http, mut headers: HeaderMap, event_id: &str) -> Result<Self, Error> {
        let id = HeaderValue::from_str(event_id);
        let id = id.map_err(|_| Fault::Broken("an event id that no header can hold"))?;
        headers.insert(LAST_EVENT_ID, id);
        let now = Instant::now();
        Ok(Self {
            reader: EventReader::after(http.max_message, event_id),
            http,
            headers,
            response: None,
            chunk: Bytes::new(),
            patience: PAUSE,
            silent_at: now,
            due: now,
            opened: false,
            failures: 0,
        })
    }

    /// Remembers where the stream is after an event.
    fn note_event(&mut self) {
        if let Some(Ok(id)) = self.reader.last_event_id().map(HeaderValue::from_str) {
            self.headers.insert(LAST_EVENT_ID, id);
        }
        self.failures = 0;
        self.patience = PAUSE;
        self.silent_at = Instant::now() + self.patience;
    }

    /// More of the stream. An end and a silence lead to the next connection.
    async fn more(&mut self) -> Result<Bytes, Error> {
        loop {
            let Some(response) = &mut self.response else {
                tokio::time::sleep_until(self.due).await;
                self.open().await?;
                continue;
            };
            match timeout_at(self.silent_at, response.chunk()).await {
                Ok(Ok(Some(chunk))) => return Ok(chunk),
                Ok(Ok(None) | Err(_)) => {
                    let pause = self.reader.retry().map_or(PAUSE, Duration::from_millis);
                    self.again_in(pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE));
                }
                Err(_silent) => self.again_in(Duration::ZERO),
            }
        }
    }

    /// Opens the next connection after `pause`.
    fn again_in(&mut self, pause: Duration) {
        self.response = None;
        self.due = Instant::now() + pause;
    }

    async fn open(&mut self) -> Result<(), Error> {
        // Counted from before the request: a server with nothing to replay may not
        // even send the header of its response.
        let silent_at = Instant::now() + self.patience;
        self.patience = (self.patience * 2).min(LONGEST_PAUSE);
        let Ok(answered) = timeout_at(silent_at, self.http.get(self.headers.clone())).await else {
            self.due = Instant::now();
            return Ok(());
        };
        let response = match answered {
            Ok(response) => response,
            Err(error) => return self.postpone(error),
        };
        let status = response.status();
        if reply::is_stream(&response) {
            let id = self.reader.last_event_id().unwrap_or_default();
            self.reader = EventReader::after(self.http.max_message, id);
            self.chunk = Bytes::new();
            self.response = Some(response);
            self.silent_at = silent_at;
            self.opened = true;
        } else if status.is_success() || status == http::StatusCode::CONFLICT {
            // 409: the server has not noticed yet that the last connection is gone.
            self.again_in(PAUSE);
        } else {
            return self.postpone(reply::status(&response).into());
        }
        Ok(())
    }

    /// Tries again after a failure that may pass, a few times. The first connection
    /// has one attempt: the caller can repeat it.
    fn postpone(&mut self, error: Error) -> Result<(), Error> {
        let passes = match error.fault() {
            Fault::Unreachable(_) => true,
            Fault::Status { status, .. } => {
                *status >= 500 && *status != 501 || is_transient(*status)
            }
            _ => false,
        };
        if !self.opened || !passes || self.failures >= MOST_FAILURES {
            return Err(error);
        }
        self.failures += 1;
        self.again_in(PAUSE * self.failures);
        Ok(())
    }
}

impl Source for ResumedStream {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            loop {
                let mut rest = &self.chunk[..];
                let event = self.reader.read(&mut rest);
                let used = self.chunk.len() - rest.len();
                self.chunk = self.chunk.slice(used..);
                let event = event.map_err(|_| Fault::TooLarge {
                    what: "event",
                    limit: self.http.max_message,
                })?;
                match event {
                    Some(event) => {
                        self.note_event();
                        if !event.data.is_empty() {
                            return Ok(Some(event.data));
                        }
                    }
                    None => {
                        if used > 0 && self.reader.is_inside_event() {
                            self.silent_at = Instant::now() + self.patience;
                        }
                        self.chunk = self.more().await?;
                    }
                }
            }
        })
    }

    fn resume_point(&self) -> Option<&str> {
        resume_point(&self.reader)
    }
}

/// Longest silence on one connection, and longest pause between two.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Attempts in a row that may fail.
const MOST_FAILURES: u32 = 3;
