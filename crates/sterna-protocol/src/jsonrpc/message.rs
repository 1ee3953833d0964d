use std::borrow::Cow;

use serde_json::value::RawValue;

use super::answer::Answer;
use super::dispatch::Dispatch;
use super::fault::DecodeError;
use super::{ErrorObject, RequestId, decode};

/// JSON-RPC message, borrowed from the bytes it was decoded from.
///
/// The type parameters select the accepted types: `R` for requests, `N` for
/// notifications, `A` for the expected result. By default `params` and `result`
/// stay raw text, for a gateway to forward. [`Nothing`](super::Nothing) accepts
/// no message of its kind.
///
/// # Examples
///
/// ```
/// use sterna_protocol::jsonrpc::Message;
///
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1, 2]}}"#;
/// let Message::Request(request) = Message::raw(body)? else {
///     unreachable!("it has a method and an id");
/// };
/// assert_eq!(request.id, 1.into());
/// assert_eq!(request.method, "ping");
/// assert_eq!(request.params.unwrap().get(), r#"{"a":[1, 2]}"#);
/// # Ok::<(), sterna_protocol::jsonrpc::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "JSON-RPC has these four kinds of message"
)]
pub enum Message<'a, R = Option<&'a RawValue>, N = Option<&'a RawValue>, A = &'a RawValue> {
    /// Request, to be answered.
    Request(Request<'a, R>),
    /// Notification, which must not be answered.
    Notification(Notification<'a, N>),
    /// Successful response.
    Result(ResultResponse<A>),
    /// Error response to a request, or to a message without a readable id.
    Error(ErrorResponse),
}

impl<'a> Message<'a> {
    /// Decodes the envelope and keeps the payload raw.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode), except that all methods are known and every
    /// object is a valid payload.
    pub fn raw(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::decode(bytes)
    }
}

impl<'a, R, N, A> Message<'a, R, N, A>
where
    R: Dispatch<'a>,
    N: Dispatch<'a>,
    A: Answer<'a>,
{
    /// Decodes a message. The method, or the request that is answered, selects
    /// the type of the payload.
    ///
    /// Well-formed input is read in one pass. Malformed input is read a second
    /// time, to find the reason and the id of its request.
    ///
    /// # Errors
    ///
    /// Every error names the request to answer, if any, and converts to an
    /// error object with the code.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode::message(bytes)
    }
}

/// Request: a message that the receiver answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request<'a, P = Option<&'a RawValue>> {
    /// Id for the response.
    pub id: RequestId,
    /// Method to call.
    pub method: Cow<'a, str>,
    /// Parameters. A value that serializes as null is omitted from the message.
    pub params: P,
}

impl<'a, P> Request<'a, P> {
    /// Creates a request.
    pub fn new(id: RequestId, method: impl Into<Cow<'a, str>>, params: P) -> Self {
        Self {
            id,
            method: method.into(),
            params,
        }
    }
}

/// Notification: a message without an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification<'a, P = Option<&'a RawValue>> {
    /// Method of the notification.
    pub method: Cow<'a, str>,
    /// Parameters. A value that serializes as null is omitted from the message.
    pub params: P,
}

impl<'a, P> Notification<'a, P> {
    /// Creates a notification.
    pub fn new(method: impl Into<Cow<'a, str>>, params: P) -> Self {
        Self {
            method: method.into(),
            params,
        }
    }
}

/// Successful response to a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResultResponse<A> {
    /// Id of the request.
    pub id: RequestId,
    /// Result of the request.
    pub result: A,
}

impl<A> ResultResponse<A> {
    /// Creates the response to the request `id`.
    pub fn new(id: RequestId, result: A) -> Self {
        Self { id, result }
    }
}

/// Error response to a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ErrorResponse {
    /// Id of the request; `None` if it could not be read.
    ///
    /// JSON-RPC writes `null` for a missing id. That is accepted, but MCP omits
    /// the member, and so does this crate.
    pub id: Option<RequestId>,
    /// Error of the request.
    pub error: ErrorObject,
}

impl ErrorResponse {
    /// Creates the response to the request `id`, or to one without a readable
    /// id.
    pub fn new(id: impl Into<Option<RequestId>>, error: ErrorObject) -> Self {
        Self {
            id: id.into(),
            error,
        }
    }
}
