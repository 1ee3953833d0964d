//! Replies to requests, in every dialect: the message, its checks, its HTTP
//! response.

mod answer;
mod completion;
mod output_schema;
mod page;
mod request_span;

use std::pin::Pin;

use http::Response;
use sterna_http::{Refusal, ResponseBody};

pub(crate) use answer::{Answer, CallResult, signature};
pub(crate) use completion::complete;
pub(crate) use output_schema::{check_output, finish_tool, sign};
pub(crate) use page::page;
pub(crate) use request_span::{RequestEnd, RequestSpan};

/// Response to a request, or the work that leads to one.
///
/// Everything up to the call of a handler is plain code on the stack. Written
/// as futures within futures it would leave each connection with a copy of the
/// request for every function that it passes through.
pub(crate) enum Reply {
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
            Self::Pending(work) => work.await,
            Self::Ready(response) => response,
        }
    }
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
