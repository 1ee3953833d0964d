//! Answers as bytes, in the shape the client reads.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;
use sterna_http::{Accepts, Events, Refusal, ResponseBody, Transport, reply};
use sterna_protocol::content::ContentBlock;
use sterna_protocol::input::InputRequired;
use sterna_protocol::jsonrpc::{ErrorObject, ErrorResponse, RequestId, ResultResponse};
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use super::RequestEnd;
use super::{refuse, sign};
use crate::backend::BackendResult;
use crate::call::{AskedQuestions, write_string};
use crate::core::Core;
use crate::failure::Failure;
use crate::middleware::RoundOutput;
use crate::sink::frame;

/// The answer to one request, written down.
pub(crate) struct Answer {
    status: StatusCode,
    message: Vec<u8>,
    /// The refusal to send instead, with its headers.
    refusal: Option<Box<Refusal>>,
    ended: RequestEnd,
}

impl Answer {
    /// The good answer to the request `id`.
    pub(crate) fn done(id: RequestId, result: &impl Serialize) -> Self {
        let mut message = Vec::with_capacity(256);
        match ResultResponse::new(id.clone(), result).encode(&mut message) {
            Ok(()) => Self::ok(message),
            Err(error) => {
                tracing::error!(target: "sterna::server", %error, "a result has no JSON form");
                Self::failed(Some(&id), &Failure::Internal)
            }
        }
    }

    /// The good answer to the request `id` with a result that has no `_meta`:
    /// it is given one that says who the server is (BASE-S15).
    ///
    /// The same bytes go into every result, so they are written once, when the
    /// server is built, and not put together by each request.
    pub(crate) fn signed(core: &Core, id: RequestId, result: &impl Serialize) -> Self {
        let mut answer = Self::done(id, result);
        if let (RequestEnd::Done, Some(open)) = (answer.ended, answer.message.strip_suffix(b"}}")) {
            answer.message.truncate(open.len());
            answer.message.extend_from_slice(&core.signature);
        }
        answer
    }

    /// The answer that asks for more, as a low-level handler put it.
    pub(crate) fn asking(core: &Core, id: RequestId, mut required: InputRequired) -> Self {
        if required.meta.is_some() {
            sign(core, &mut required.meta);
            return Self::done(id, &required);
        }
        if !required.extra.is_empty() || required.state().is_none() {
            return Self::signed(core, id, &required);
        }
        let (requests, state) = required.into_parts();
        let state = state.expect("it was looked at");
        Self::asked(core, id, &AskedQuestions::new(requests.into(), state))
    }

    /// The answer that asks for more, written straight into its message.
    pub(crate) fn asked(core: &Core, id: RequestId, asked: &AskedQuestions) -> Self {
        let mut message = begin(&id, asked.size() + core.signature.len());
        if let Err(error) = asked.write_open(&mut message) {
            tracing::error!(target: "sterna::server", %error, "a question has no JSON form");
            return Self::failed(Some(&id), &Failure::Internal);
        }
        message.extend_from_slice(&core.signature);
        Self::ok(message)
    }

    /// The answer with a result that is one text, written straight into its
    /// message. [`signed`](Self::signed) writes the same.
    pub(crate) fn text(core: &Core, id: &RequestId, text: &str) -> Self {
        let size = TEXT_BEFORE.len() + text.len() + 2 + TEXT_AFTER.len();
        let mut message = begin(id, size + core.signature.len());
        write_open_text(&mut message, text);
        message.extend_from_slice(&core.signature);
        Self::ok(message)
    }

    /// A result that was written when the server was built.
    pub(crate) fn cached(id: &RequestId, parts: &[&[u8]]) -> Self {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        let mut message = begin(id, size + 1);
        for part in parts {
            message.extend_from_slice(part);
        }
        message.push(b'}');
        Self::ok(message)
    }

    /// The bad answer to the request `id`, if that could be read.
    pub(crate) fn failed(id: Option<&RequestId>, failure: &Failure) -> Self {
        let (status, error) = failure.to_wire();
        let code = error.code.0;
        let mut message = Vec::with_capacity(128);
        ErrorResponse::new(id.cloned(), error)
            .encode(&mut message)
            .expect("an error holds JSON only");
        Self {
            status,
            message,
            refusal: match failure {
                Failure::Forbidden(refusal) => Some(refusal.clone()),
                _ => None,
            },
            ended: RequestEnd::Failed(code),
        }
    }

    /// The bad answer to the request `id` within a session, whose transport
    /// knows no bad requests but only bad messages.
    pub(crate) fn refused(id: RequestId, error: ErrorObject) -> Self {
        let ended = RequestEnd::Failed(error.code.0);
        let mut message = Vec::with_capacity(128);
        ErrorResponse::new(id, error)
            .encode(&mut message)
            .expect("an error holds JSON only");
        Self {
            ended,
            ..Self::ok(message)
        }
    }

    /// The message itself.
    pub(crate) fn into_message(self) -> Vec<u8> {
        self.message
    }

    fn ok(message: Vec<u8>) -> Self {
        Self {
            status: StatusCode::OK,
            message,
            refusal: None,
            ended: RequestEnd::Done,
        }
    }

    /// Notes that the result says a tool failed.
    pub(crate) fn of_failed_tool(mut self) -> Self {
        self.ended = RequestEnd::ToolError;
        self
    }

    /// End of the request, for its span.
    pub(crate) fn ended(&self) -> RequestEnd {
        self.ended
    }

    /// The answer as one document, or as one event for a client that reads
    /// nothing else.
    pub(crate) fn plain(self, accepts: Accepts) -> Response<ResponseBody> {
        if let Some(refusal) = self.refusal {
            return refuse(*refusal);
        }
        if accepts.json() || self.status != StatusCode::OK {
            return reply::json(self.status, self.message);
        }
        reply::events(Once(Some(self.last_of(Transport::Http))))
    }

    /// The answer as the last message of a stream.
    pub(crate) fn last_of(self, transport: Transport) -> Bytes {
        frame(transport, &self.message).into()
    }
}

/// Appends a result that is one text, without its closing brace.
fn write_open_text(message: &mut Vec<u8>, text: &str) {
    message.extend_from_slice(TEXT_BEFORE);
    write_string(message, text);
    message.extend_from_slice(TEXT_AFTER);
}

const TEXT_BEFORE: &[u8] = br#"{"resultType":"complete","content":[{"type":"text","text":"#;
const TEXT_AFTER: &[u8] = b"}]";

/// A message up to its result, with room for one of `size` bytes.
///
/// The room fits exactly if the id needs no escapes: `Bytes` takes over a full
/// vector as it is, and one with room left only with another allocation.
fn begin(id: &RequestId, size: usize) -> Vec<u8> {
    const ID: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const RESULT: &[u8] = br#","result":"#;
    let id_size = match id {
        RequestId::Integer(number) => {
            let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
            digits as usize + usize::from(*number < 0)
        }
        RequestId::String(text) => text.len() + 2,
    };
    let mut message = Vec::with_capacity(ID.len() + id_size + RESULT.len() + size);
    message.extend_from_slice(ID);
    serde_json::to_writer(&mut message, id).expect("an id is a string or a number");
    message.extend_from_slice(RESULT);
    message
}

/// End of every result that has no `_meta` of its own.
pub(crate) fn signature(meta: &ResultMeta) -> Bytes {
    let meta = serde_json::to_string(meta).expect("metadata has string keys only");
    // Every result has a `resultType` before it.
    format!(r#","_meta":{meta}}}}}"#).into()
}

/// A stream of one event.
struct Once(Option<Bytes>);

impl Events for Once {
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        Poll::Ready(self.0.take())
    }
}

/// Result of a tool, a prompt or a resource.
pub(crate) trait CallResult: BackendResult + RoundOutput {
    /// Method that it is the result of.
    const METHOD: &'static str;

    /// `_meta` of the result.
    fn meta(&mut self) -> &mut Option<ResultMeta>;

    fn is_failed_tool(&self) -> bool {
        false
    }

    /// The text of a result that is one text and nothing besides.
    fn plain_text(&self) -> Option<&str> {
        None
    }
}

impl CallResult for CallToolResult {
    const METHOD: &'static str = "tools/call";

    fn meta(&mut self) -> &mut Option<ResultMeta> {
        &mut self.meta
    }

    fn is_failed_tool(&self) -> bool {
        self.is_error == Some(true)
    }

    fn plain_text(&self) -> Option<&str> {
        let [ContentBlock::Text(block)] = &self.content[..] else {
            return None;
        };
        let is_plain = block.annotations.is_none()
            && block.meta.is_none()
            && block.extra.is_empty()
            && self.structured_content.is_none()
            && self.is_error.is_none()
            && self.meta.is_none()
            && self.extra.is_empty();
        is_plain.then_some(&*block.text)
    }
}

impl CallResult for GetPromptResult {
    const METHOD: &'static str = "prompts/get";

    fn meta(&mut self) -> &mut Option<ResultMeta> {
        &mut self.meta
    }
}

impl CallResult for ReadResourceResult {
    const METHOD: &'static str = "resources/read";

    fn meta(&mut self) -> &mut Option<ResultMeta> {
        &mut self.meta
    }
}

#[cfg(test)]
mod tests {
    use sterna_protocol::json::{JsonObject, RawJson};
    use sterna_protocol::result::Complete;

    use super::*;

    #[test]
    fn a_text_is_written_as_the_wire_types_write_it() {
        for text in ["", "hello", "\"quoted\"\\\n\u{7}\u{1f600}"] {
            let result = CallToolResult::text(text);
            assert_eq!(result.plain_text(), Some(text));
            let mut written = Vec::new();
            write_open_text(&mut written, text);
            written.push(b'}');
            let expected = serde_json::to_string(&Complete(result)).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }

    #[test]
    fn a_message_without_escapes_fills_its_room() {
        let numbers = [0, 7, 10, -12, i64::MAX, i64::MIN].map(RequestId::Integer);
        for id in numbers.into_iter().chain(["".into(), "seven".into()]) {
            let message = Answer::cached(&id, &[br#"{"a":1}"#]).into_message();
            assert_eq!(message.len(), message.capacity(), "{id:?}");
            let expected = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"a":1}}}}"#,
                serde_json::to_string(&id).unwrap()
            );
            assert_eq!(String::from_utf8(message).unwrap(), expected);
        }
    }

    #[test]
    fn a_result_with_more_than_a_text_is_not_written_as_one() {
        let mut annotated = CallToolResult::text("hello");
        if let ContentBlock::Text(block) = &mut annotated.content[0] {
            block.meta = Some(JsonObject::new());
        }
        let mut named = CallToolResult::text("hello");
        named.meta = Some(ResultMeta::default());
        let mut twice = CallToolResult::text("hello");
        twice.content.push(ContentBlock::text("again"));
        for result in [
            annotated,
            named,
            twice,
            CallToolResult::new(Vec::new()),
            CallToolResult::error("no"),
            CallToolResult::text("1").with_structured_content(RawJson::of(&1).unwrap()),
        ] {
            assert_eq!(result.plain_text(), None, "{result:?}");
        }
    }
}
