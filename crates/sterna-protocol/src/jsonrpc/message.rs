use std::borrow::Cow;

use serde_json::value::RawValue;

use super::answer::Answer;
use super::dispatch::Dispatch;
use super::fault::DecodeError;
use super::{ErrorObject, RequestId, decode};

/// One JSON-RPC message, borrowed from the bytes it came in.
///
/// The three type parameters say what this side accepts: `R` the requests,
/// `N` the notifications, `A` the result it is waiting for. Left at their
/// defaults they keep `params` and `result` as raw text, which is what a
/// gateway forwards; [`Nothing`](super::Nothing) accepts nothing.
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
    /// The sender waits for an answer.
    Request(Request<'a, R>),
    /// The sender does not wait for an answer and must not get one.
    Notification(Notification<'a, N>),
    /// A request was answered.
    Result(ResultResponse<A>),
    /// A request was refused, or could not be read at all.
    Error(ErrorResponse),
}

impl<'a> Message<'a> {
    /// Reads the envelope and leaves the payload raw.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode), except that every method is known and
    /// every object is a payload.
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
    /// Reads a message, its payload as the type that its method, or the
    /// request it answers, asks for.
    ///
    /// Good input is read in one pass. Input that is refused is read once more
    /// to find out what was wrong and which request it was.
    ///
    /// # Errors
    ///
    /// Every error says which request to answer, if any, and with which code.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode::message(bytes)
    }
}

/// A message that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request<'a, P = Option<&'a RawValue>> {
    /// Under which the answer will come.
    pub id: RequestId,
    /// What is asked for.
    pub method: Cow<'a, str>,
    /// With what; a value that serialises as null is left out of the message.
    pub params: P,
}

impl<'a, P> Request<'a, P> {
    /// A request that awaits an answer under `id`.
    pub fn new(id: RequestId, method: impl Into<Cow<'a, str>>, params: P) -> Self {
        Self {
            id,
            method: method.into(),
            params,
        }
    }
}

/// A message that waits for nothing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification<'a, P = Option<&'a RawValue>> {
    /// What happened.
    pub method: Cow<'a, str>,
    /// To what; a value that serialises as null is left out of the message.
    pub params: P,
}

impl<'a, P> Notification<'a, P> {
    /// A notification of `method`.
    pub fn new(method: impl Into<Cow<'a, str>>, params: P) -> Self {
        Self {
            method: method.into(),
            params,
        }
    }
}

/// The good answer to a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResultResponse<A> {
    /// The request that is answered.
    pub id: RequestId,
    /// The answer.
    pub result: A,
}

impl<A> ResultResponse<A> {
    /// The answer to the request `id`.
    pub fn new(id: RequestId, result: A) -> Self {
        Self { id, result }
    }
}

/// The bad answer to a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ErrorResponse {
    /// The request that is answered; `None` if its id could not be read.
    ///
    /// Base JSON-RPC spells that `null`. Peers that do so are understood, but
    /// MCP leaves the member out, and so do we.
    pub id: Option<RequestId>,
    /// Why there is no result.
    pub error: ErrorObject,
}

impl ErrorResponse {
    /// The answer to the request `id`, or to one that could not be read.
    pub fn new(id: impl Into<Option<RequestId>>, error: ErrorObject) -> Self {
        Self {
            id: id.into(),
            error,
        }
    }
}
