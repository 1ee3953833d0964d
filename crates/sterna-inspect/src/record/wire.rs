//! A message on the wire, as it is shown: masked and cut.

use std::time::Duration;

use http::HeaderMap;
use serde_json::Value;
use sterna_client::{Direction, WireMessage};

use crate::mask;

/// A message without its secrets.
#[derive(Clone, Debug)]
pub(crate) struct WireRecord {
    /// Time since the round began.
    pub(crate) after: Duration,
    pub(crate) direction: Direction,
    /// The method, or `result` or `error`.
    pub(crate) title: String,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    /// The message as indented JSON.
    pub(crate) body: String,
    /// Size before it was masked and cut.
    pub(crate) bytes: usize,
}

impl WireRecord {
    pub(crate) fn new(message: &WireMessage<'_>, after: Duration) -> Self {
        let status = message.status.map(|status| status.as_u16());
        Self::of(
            message.direction,
            status,
            message.headers,
            message.body,
            after,
        )
    }

    /// A message that another client sent or received.
    pub(crate) fn of(
        direction: Direction,
        status: Option<u16>,
        headers: &HeaderMap,
        body: &[u8],
        after: Duration,
    ) -> Self {
        let json: Option<Value> = serde_json::from_slice(body).ok();
        let mut record = Self::unread(direction, status, headers, body.len(), after);
        record.title = title(json.as_ref());
        if let Some(mut json) = json {
            mask::body(&mut json);
            record.body = cut(format!("{json:#}"));
        }
        record
    }

    /// A body of so many bytes that cannot be read. It cannot be masked either, so
    /// it is not shown.
    pub(crate) fn unread(
        direction: Direction,
        status: Option<u16>,
        headers: &HeaderMap,
        bytes: usize,
        after: Duration,
    ) -> Self {
        let headers = headers.iter().map(|(name, value)| {
            let value = mask::header(name, &String::from_utf8_lossy(value.as_bytes()));
            (name.as_str().to_owned(), cut(value))
        });
        Self {
            after,
            direction,
            title: "no message".to_owned(),
            status,
            headers: headers.take(MOST_HEADERS).collect(),
            body: match bytes {
                0 => "(no body)".to_owned(),
                _ => format!("({bytes} bytes that are no JSON)"),
            },
            bytes,
        }
    }
}

fn title(message: Option<&Value>) -> String {
    let member = |name: &str| message.and_then(|message| message.get(name));
    let mut title = match (member("method"), member("error")) {
        (Some(method), _) => method.as_str().unwrap_or("no method").to_owned(),
        (None, Some(_)) => "error".to_owned(),
        (None, None) => "result".to_owned(),
    };
    if let Some(kind) = member("result").and_then(|result| result.get("resultType")) {
        title = format!("{title}: {}", kind.as_str().unwrap_or_default());
    }
    cut(title)
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at);
        text.push_str("\n… (cut)");
    }
    text
}

const MOST_HEADERS: usize = 40;

/// Characters of one message on a page.
const LONGEST: usize = 20_000;
