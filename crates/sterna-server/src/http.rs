//! HTTP as MCP uses it: the front of a server, and refusals as JSON-RPC errors.

use std::borrow::Cow;

use http::{HeaderMap, Response};
use sterna_protocol::http::decode_value;

pub use sterna_http::clock::with_clock;
pub use sterna_http::{
    Aborted, Accepts, Admission, Check, Checking, ConfigError, Counter, DrainReport, Endpoint,
    Events, Gauge, Health, Histogram, HttpConfig, HttpServer, Inbound, Inbox, Limits, Operation,
    Outbox, Peer, Probes, PushError, Rate, Rates, Refusal, Registry, ResponseBody, ServeError,
    Shutdown, Timeouts, interrupted, outbox, reply,
};

/// Response headers of MCP that a web page may read.
pub(crate) const EXPOSED_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate, Retry-After";

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

/// Reads the method and the name that a request's headers mirror.
pub(crate) fn operation(headers: &HeaderMap) -> Operation<'_> {
    let text = |name| headers.get(name).and_then(|value| decode_value(value).ok());
    Operation {
        method: text("mcp-method").unwrap_or(Cow::Borrowed("")),
        // AUTH-S2: the same scopes as the body would lead to, however it is spelled here.
        name: text("mcp-name"),
    }
}
