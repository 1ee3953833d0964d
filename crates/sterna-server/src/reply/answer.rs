//! Answers as bytes, in the shape the client reads.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;
use sterna_http::{Accepts, Events, Refusal, ResponseBody, Transport, reply};
use sterna_protocol::input::InputRequired;
use sterna_protocol::jsonrpc::{ErrorObject, ErrorResponse, RequestId, ResultResponse};
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use super::RequestEnd;
use super::{refuse, sign};
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

    /// The answer that asks for more, with its state behind its questions.
    ///
    /// A state that was sealed here needs no escapes, so it is copied as it is.
    pub(crate) fn asking(core: &Core, id: RequestId, mut required: InputRequired) -> Self {
        let is_ours = required.meta.is_none() && required.extra.is_empty();
        let plain = required.state().filter(|state| is_plain(state.as_str()));
        if !is_ours || plain.is_none() || required.requests().is_empty() {
            if required.meta.is_none() {
                return Self::signed(core, id, &required);
            }
            sign(core, &mut required.meta);
            return Self::done(id, &required);
        }
        let (requests, state) = required.into_parts();
        let state = state.expect("it was looked at");
        let asked = InputRequired::new(requests, None).expect("something is asked");
        let mut message = Vec::with_capacity(512 + state.len() + core.signature.len());
        let written = ResultResponse::new(id.clone(), &asked).encode(&mut message);
        let (Ok(()), Some(open)) = (written, message.strip_suffix(b"}}")) else {
            tracing::error!(target: "sterna::server", "a question has no JSON form");
            return Self::failed(Some(&id), &Failure::Internal);
        };
        message.truncate(open.len());
        message.extend_from_slice(br#","requestState":""#);
        message.extend_from_slice(state.as_str().as_bytes());
        message.push(b'"');
        message.extend_from_slice(&core.signature);
        Self::ok(message)
    }

    /// A result that was written when the server was built.
    pub(crate) fn cached(id: &RequestId, parts: &[&[u8]]) -> Self {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        let mut message = Vec::with_capacity(size + 64);
        message.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        serde_json::to_writer(&mut message, id).expect("an id is a string or a number");
        message.extend_from_slice(br#","result":"#);
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

/// Returns `true` if `text` needs no escapes in a JSON string.
fn is_plain(text: &str) -> bool {
    let stands = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    // No early exit, so that the loop vectorises.
    text.bytes().fold(true, |all, byte| all & stands(byte))
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
pub(crate) trait CallResult: RoundOutput {
    /// Method that it is the result of.
    const METHOD: &'static str;

    /// `_meta` of the result.
    fn meta(&mut self) -> &mut Option<ResultMeta>;

    fn is_failed_tool(&self) -> bool {
        false
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
