//! An operation as its client sees it.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::value::RawValue;
use sterna_store::{Outcome, Question, Status, Task};

use super::progress::StoredProgress;
use crate::stored_response::StoredResponse;

/// Representation of an operation.
pub(crate) struct Resource {
    body: Vec<u8>,
    /// Pause before the client looks again; `None` if the operation has ended.
    retry_after: Option<HeaderValue>,
}

impl Resource {
    /// Represents `task`, which changes every `pause` or so while it runs.
    pub(crate) fn of(task: &Task, pause: Duration) -> Self {
        let summary = &task.summary;
        let result = task.outcome.as_ref().and_then(Outcome::payload);
        let result = result.and_then(|bytes| StoredResponse::read(bytes.clone()));
        let questions = match summary.status {
            Status::InputRequired => Some(task.questions.iter().filter_map(shown).collect()),
            _ => None,
        };
        let representation = Representation {
            id: summary.id.to_string(),
            status: summary.status.as_str(),
            created_at: format!("{:.3}", summary.created_at),
            updated_at: format!("{:.3}", summary.updated_at),
            expires_at: summary.expires_at.map(|end| format!("{end:.3}")),
            // Not of one that is complete: it was written with the step before the last.
            progress: match summary.status {
                Status::Completed => None,
                _ => summary.note.as_ref().and_then(StoredProgress::read),
            },
            questions,
            result: result.as_ref().map(ShownResult::of),
        };
        let body = serde_json::to_vec(&representation).expect("an operation has string keys only");
        let seconds = pause.as_millis().div_ceil(1000).max(1);
        let seconds = HeaderValue::from(u64::try_from(seconds).unwrap_or(u64::MAX));
        let retry_after = (!summary.status.is_final()).then_some(seconds);
        Self { body, retry_after }
    }

    /// Returns a response with a tag. One to a read with these `headers` is a 304
    /// if its client has this representation.
    pub(super) fn respond(self, read: Option<&HeaderMap>) -> Response {
        // Strong, because it is of these bytes: equal tags are equal bodies.
        let digest = digest(&SHA256, &self.body);
        let digits = digest.as_ref()[..16].iter();
        let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
        let tag = format!("\"{digits}\"");
        let known = read
            .into_iter()
            .flat_map(|headers| headers.get_all(IF_NONE_MATCH));
        let is_known = known.into_iter().any(|known| {
            let known = known.to_str().unwrap_or_default().split(',').map(str::trim);
            let mut known = known.map(|known| known.strip_prefix("W/").unwrap_or(known));
            known.any(|known| known == "*" || known == tag)
        });
        let tag = HeaderValue::try_from(tag).expect("digits are a header value");
        let mut response = match is_known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.into_response(),
        };
        let headers = response.headers_mut();
        headers.insert(ETAG, tag);
        let private = HeaderValue::from_static("private, no-cache");
        headers.insert(CACHE_CONTROL, private);
        response
    }
}

impl IntoResponse for Resource {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json);
        if let Some(retry_after) = self.retry_after {
            headers.insert(RETRY_AFTER, retry_after);
        }
        response
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Representation<'a> {
    id: String,
    status: &'a str,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<StoredProgress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<BTreeMap<&'a str, &'a RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ShownResult<'a>>,
}

/// Returns a question as the flow has written it.
fn shown(question: &Question) -> Option<(&str, &RawValue)> {
    let request = serde_json::from_slice(&question.request).ok()?;
    Some((question.key.as_str(), request))
}

/// Response of the handler.
#[derive(Serialize)]
struct ShownResult<'a> {
    status: u16,
    headers: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<ShownBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShownBody<'a> {
    Json(&'a RawValue),
    Text(&'a str),
    Base64(String),
}

impl<'a> ShownResult<'a> {
    fn of(response: &'a StoredResponse) -> Self {
        let mut headers: BTreeMap<&str, String> = BTreeMap::new();
        for (name, value) in &response.headers {
            if OF_ONE_RESPONSE.contains(&name.as_str()) {
                continue;
            }
            let value = String::from_utf8_lossy(value.as_bytes());
            let joined = headers.entry(name.as_str()).or_default();
            if !joined.is_empty() {
                joined.push_str(", ");
            }
            joined.push_str(&value);
        }
        let body = ShownBody::of(&response.headers, &response.body);
        Self {
            status: response.status.as_u16(),
            headers,
            encoding: matches!(body, Some(ShownBody::Base64(_))).then_some("base64"),
            body,
        }
    }
}

impl<'a> ShownBody<'a> {
    fn of(headers: &HeaderMap, body: &'a Bytes) -> Option<Self> {
        if body.is_empty() {
            return None;
        }
        let media_type = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let media_type = media_type.unwrap_or_default().split(';').next();
        let media_type = media_type.unwrap_or_default().trim().to_ascii_lowercase();
        if (media_type == "application/json" || media_type.ends_with("+json"))
            && let Ok(json) = serde_json::from_slice(body)
        {
            return Some(Self::Json(json));
        }
        Some(match std::str::from_utf8(body) {
            Ok(text) => Self::Text(text),
            Err(_) => Self::Base64(base64_simd::STANDARD.encode_to_string(body)),
        })
    }
}

/// Header fields of the response itself, which do not describe its result inside another
/// response.
const OF_ONE_RESPONSE: [&str; 7] = [
    "cache-control",
    "connection",
    "content-length",
    "date",
    "set-cookie",
    "transfer-encoding",
    "vary",
];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use http::header::{SET_COOKIE, VARY};
    use sterna_store::{Name, Note, Summary, TaskId, UnixMillis};

    use super::*;

    fn task(status: Status) -> Task {
        let name = Name::new("import").unwrap();
        let at = UnixMillis::new(1_800_000_000_123);
        Task::new(Summary::new(TaskId::from_bytes([1; 16]), name, status, at))
    }

    #[track_caller]
    fn check(task: &Task, expected: Expect) {
        let resource = Resource::of(task, Duration::from_secs(1));
        expected.assert_eq(std::str::from_utf8(&resource.body).unwrap());
    }

    #[test]
    fn an_operation_shows_its_progress_and_its_questions() {
        let mut task = task(Status::InputRequired);
        task.summary.note = Some(Note::new(r#"{"done":2.0,"total":3.0}"#));
        task.summary.expires_at = Some(UnixMillis::new(1_800_000_001_000));
        let question = Bytes::from_static(br#"{"message":"Sure?","schema":{"type":"boolean"}}"#);
        let key = Name::new("sure").unwrap();
        task.questions = vec![Question::new(key, [0; 16], question)];
        check(
            &task,
            expect![[
                r#"{"id":"01010101010101010101010101010101","status":"input_required","createdAt":"2027-01-15T08:00:00.123Z","updatedAt":"2027-01-15T08:00:00.123Z","expiresAt":"2027-01-15T08:00:01.000Z","progress":{"done":2.0,"total":3.0},"questions":{"sure":{"message":"Sure?","schema":{"type":"boolean"}}}}"#
            ]],
        );
    }

    fn ended(media_type: &'static str, body: &'static [u8]) -> Task {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(SET_COOKIE, HeaderValue::from_static("a=secret"));
        headers.insert(VARY, HeaderValue::from_static("accept"));
        headers.append("link", HeaderValue::from_static("</a>"));
        headers.append("link", HeaderValue::from_static("</b>"));
        let response = StoredResponse {
            status: StatusCode::CREATED,
            headers,
            body: Bytes::from_static(body),
        };
        let mut task = task(Status::Completed);
        task.outcome = Some(Outcome::Completed(response.write().unwrap()));
        task
    }

    #[test]
    fn a_result_is_json_text_or_base64() {
        let head = r#"{"id":"01010101010101010101010101010101","status":"completed","createdAt":"2027-01-15T08:00:00.123Z","updatedAt":"2027-01-15T08:00:00.123Z","result":"#;
        let shown = |media_type, body| {
            let resource = Resource::of(&ended(media_type, body), Duration::from_secs(1));
            let text = String::from_utf8(resource.body).unwrap();
            text.strip_prefix(head).expect("the head").to_owned()
        };
        expect![[r#"{"status":201,"headers":{"content-type":"application/problem+json","link":"</a>, </b>"},"body":{"a":1.0}}}"#]]
            .assert_eq(&shown("application/problem+json", b"{\"a\":1.0}"));
        expect![[r#"{"status":201,"headers":{"content-type":"text/plain","link":"</a>, </b>"},"body":"{\"a\":1.0}"}}"#]]
            .assert_eq(&shown("text/plain", b"{\"a\":1.0}"));
        expect![[r#"{"status":201,"headers":{"content-type":"image/png","link":"</a>, </b>"},"body":"iVA=","encoding":"base64"}}"#]]
            .assert_eq(&shown("image/png", b"\x89P"));
        expect![[
            r#"{"status":201,"headers":{"content-type":"application/json","link":"</a>, </b>"}}}"#
        ]]
        .assert_eq(&shown("application/json", b""));
    }

    #[test]
    fn a_tag_is_that_of_the_bytes() {
        let respond = |status, tag: &str| {
            let resource = Resource::of(&task(status), Duration::from_millis(1500));
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, tag.parse().unwrap());
            resource.respond(Some(&headers))
        };
        let first = respond(Status::Working, "\"other\"");
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[RETRY_AFTER], "2");
        let tag = first.headers()[ETAG].to_str().unwrap().to_owned();
        for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let same = respond(Status::Working, &known);
            assert_eq!(same.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(same.headers()[ETAG], tag.as_str());
        }
        let ended = respond(Status::Cancelled, &tag);
        assert_eq!(ended.status(), StatusCode::OK);
        assert!(!ended.headers().contains_key(RETRY_AFTER));
    }
}
