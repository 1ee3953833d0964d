//! A stream of messages, taken up again where it broke off.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Response;
use sterna_protocol::sse;
use tokio::time::Instant;

use super::super::Source;
use super::{Http, reply};
use crate::error::{Error, Fault};

/// A message per event.
pub(super) struct Events {
    response: Response,
    reader: sse::EventReader,
    chunk: Bytes,
    max_message: usize,
    resume: Option<StreamResumption>,
}

/// Resumption of a stream that broke off. Only sessions of earlier revisions
/// have it: a modern stream is not resumed.
pub(super) struct StreamResumption {
    http: Http,
    headers: HeaderMap,
    last_event_id: Option<HeaderValue>,
    pause: Duration,
    due: Option<Instant>,
}

impl StreamResumption {
    pub(super) fn new(http: Http, headers: HeaderMap) -> Self {
        Self {
            http,
            headers,
            last_event_id: None,
            pause: PAUSE,
            due: None,
        }
    }

    /// Remembers where the stream is.
    fn note(&mut self, reader: &sse::EventReader) {
        if let Some(id) = reader.last_event_id() {
            self.last_event_id = HeaderValue::from_str(id).ok();
        }
        if let Some(millis) = reader.retry() {
            self.pause = Duration::from_millis(millis).max(SHORTEST_PAUSE);
        }
    }

    /// The rest of the stream; `None` if the server never said where it was,
    /// or has no rest.
    ///
    /// The moment is kept, so that a caller who gives up and asks again does
    /// not wait anew.
    async fn reopen(&mut self) -> Result<Option<Response>, Error> {
        let Some(id) = self.last_event_id.clone() else {
            return Ok(None);
        };
        let due = *self.due.get_or_insert_with(|| {
            let now = Instant::now();
            now.checked_add(self.pause).unwrap_or(now)
        });
        tokio::time::sleep_until(due).await;
        let mut headers = self.headers.clone();
        headers.insert(LAST_EVENT_ID, id);
        let response = self.http.get(headers).await?;
        self.due = None;
        Ok(Some(response).filter(reply::is_stream))
    }
}

impl Events {
    pub(super) fn new(
        response: Response,
        max_message: usize,
        resume: Option<StreamResumption>,
    ) -> Self {
        Self {
            response,
            reader: sse::EventReader::new(max_message),
            chunk: Bytes::new(),
            max_message,
            resume,
        }
    }

    /// More of the stream; `None` once there will be no more.
    async fn more(&mut self) -> Result<Option<Bytes>, Error> {
        let broken = match self.response.chunk().await {
            Ok(Some(chunk)) => return Ok(Some(chunk)),
            Ok(None) => None,
            Err(error) => Some(reply::broken(error)),
        };
        let rest = match &mut self.resume {
            Some(resume) => resume.reopen().await?,
            None => None,
        };
        match (rest, broken) {
            (Some(response), _) => {
                self.response = response;
                let id = self.reader.last_event_id().unwrap_or_default();
                self.reader = sse::EventReader::after(self.max_message, id);
                Ok(Some(Bytes::new()))
            }
            (None, Some(broken)) => Err(broken.into()),
            (None, None) => Ok(None),
        }
    }
}

impl Source for Events {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            loop {
                let mut rest = &self.chunk[..];
                let event = self.reader.read(&mut rest);
                let used = self.chunk.len() - rest.len();
                self.chunk = self.chunk.slice(used..);
                let event = event.map_err(|_| Fault::TooLarge {
                    what: "event",
                    limit: self.max_message,
                })?;
                if let (Some(_), Some(resume)) = (&event, &mut self.resume) {
                    resume.note(&self.reader);
                }
                match event {
                    // An event without data only sets the position to resume at.
                    Some(event) if !event.data.is_empty() => return Ok(Some(event.data)),
                    Some(_) => {}
                    None => match self.more().await? {
                        Some(chunk) => self.chunk = chunk,
                        None => return Ok(None),
                    },
                }
            }
        })
    }

    fn resume_point(&self) -> Option<&str> {
        self.resume.as_ref()?;
        resume_point(&self.reader)
    }
}

/// Id to resume after so that the event that was read last is sent again. A
/// server that gave this event no id of its own has not stored it.
pub(super) fn resume_point(reader: &sse::EventReader) -> Option<&str> {
    let (before, own) = (reader.previous_event_id()?, reader.last_event_id()?);
    let usable = before.len() <= LONGEST_EVENT_ID && HeaderValue::from_str(before).is_ok();
    (usable && before != own).then_some(before)
}

pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The wait where the server names none.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// No server makes us ask without a pause.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(50);

/// A paused call keeps an event id; real ones take some tens of bytes.
const LONGEST_EVENT_ID: usize = 1024;
