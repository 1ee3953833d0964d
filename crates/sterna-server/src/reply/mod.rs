//! Replies to requests, in every dialect: the message, its checks, its HTTP
//! response.

mod answer;
mod completion;
mod output_schema;
mod request_span;

use std::pin::Pin;
use std::time::Duration;

use http::Response;
use sterna_http::{Accepts, Admission, Inbox, Refusal, ResponseBody, Transport, reply};
use sterna_protocol::jsonrpc::RequestId;

pub(crate) use answer::{Answer, CallResult, signature};
pub(crate) use completion::complete;
pub(crate) use output_schema::{check_output, finish_tool, sign};
pub(crate) use request_span::{RequestEnd, RequestSpan};

use crate::core::Core;
use crate::failure::Failure;
use crate::lists::List;

/// Response to a request, or the work that leads to one.
///
/// Everything up to the call of a handler is plain code on the stack. Written
/// as futures within futures it would leave each connection with a copy of the
/// request for every function that it passes through.
pub(crate) enum Reply {
    Call(PendingCall),
    Pending(Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>),
    Ready(Response<ResponseBody>),
}

impl Reply {
    pub(crate) fn pending(
        work: impl Future<Output = Response<ResponseBody>> + Send + 'static,
    ) -> Self {
        Self::Pending(Box::pin(work))
    }

    /// Waits for the response.
    pub(crate) async fn finish(self) -> Response<ResponseBody> {
        match self {
            Self::Call(PendingCall {
                call,
                inbox,
                patience,
                accepts,
                transport,
            }) => {
                let plain = move |answer: Answer| answer.plain(accepts);
                let last = move |answer: Answer| answer.last_of(transport);
                reply::respond_or_stream(call, inbox, patience, plain, last).await
            }
            Self::Pending(work) => work.await,
            Self::Ready(response) => response,
        }
    }
}

/// Call whose answer is a document, or an event stream once the handler has
/// something to say.
pub(crate) struct PendingCall {
    pub(crate) call: Pin<Box<dyn Future<Output = Answer> + Send>>,
    /// Events of the handler; `None` if the client wants none.
    pub(crate) inbox: Option<Inbox>,
    /// Silence after which the answer becomes a stream.
    pub(crate) patience: Duration,
    pub(crate) accepts: Accepts,
    pub(crate) transport: Transport,
}

/// Writes a refusal as a JSON-RPC error without an id, which the specification
/// allows for a refusal that comes before the request was read.
pub(crate) fn refuse(refusal: Refusal) -> Response<ResponseBody> {
    let (status, text) = refusal.text();
    let code = if status.is_server_error() {
        -32603
    } else {
        -32600
    };
    // The path of the endpoint is the operator's, and may hold any character.
    let text = serde_json::Value::from(text);
    let document = format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":{text}}}}}"#);
    refusal.with_document(document)
}

/// One page of a list as an answer.
pub(crate) fn page(
    core: &Core,
    admission: &Admission,
    id: &RequestId,
    list: &List,
    method: &'static str,
    cursor: Option<String>,
) -> Result<Answer, Failure> {
    let visible;
    let list = if admission.hides() {
        // TOOL-S2, PROMPT-S2, RES-S2
        let used_by = match method {
            "prompts/list" => "prompts/get",
            "tools/list" => "tools/call",
            _ => "resources/read",
        };
        visible = list.only(|name| admission.may(used_by, Some(name)).is_ok());
        &visible
    } else {
        list
    };
    let (page, next) = list.page(
        &core.keys,
        &core.realm,
        core.now(),
        method,
        cursor.as_deref(),
    )?;
    Ok(match next {
        None => Answer::cached(id, &[page, b"}"]),
        // A token has no character that JSON would escape.
        Some(next) => Answer::cached(
            id,
            &[page, br#","nextCursor":""#, next.as_bytes(), br#""}"#],
        ),
    })
}
