//! Eras of the protocol: 2026-07-28, and the revisions with sessions.

use http::{HeaderMap, HeaderName, Method};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sterna_http::Inbound;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::jsonrpc::Message;
use sterna_protocol::legacy::ClientRequest;
use sterna_protocol::version::ProtocolVersion;

/// Era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revisions with sessions: a message of one, or the one that opens it.
    Session,
    /// 2026-07-28, whose requests stand alone; also for what cannot be told.
    Standalone,
}

/// Tells the era of an HTTP request. For one of 2026-07-28 that costs a look at
/// a header; nothing is parsed.
pub(crate) fn era(inbound: &Inbound) -> Era {
    let headers = &inbound.head.headers;
    // Looked for instead of looked up: hashing the name costs more than passing over some fields.
    let mut versions = headers
        .iter()
        .filter(|(name, _)| **name == MCP_PROTOCOL_VERSION);
    if versions
        .next()
        .is_some_and(|(_, version)| version == "2026-07-28")
    {
        return Era::Standalone;
    }
    if inbound.head.method != Method::POST {
        return Era::Session;
    }
    if has_session_headers(headers) || is_initialize(&inbound.body) {
        // A request of both eras is judged as one of 2026-07-28, and told what does not fit.
        return if is_standalone(&inbound.body) {
            Era::Standalone
        } else {
            Era::Session
        };
    }
    Era::Standalone
}

fn has_session_headers(headers: &HeaderMap) -> bool {
    let version = headers.get(MCP_PROTOCOL_VERSION);
    headers.contains_key(MCP_SESSION_ID)
        || version.is_some_and(|version| version.to_str().is_ok_and(has_sessions))
}

fn is_initialize(body: &[u8]) -> bool {
    matches!(Message::raw(body), Ok(Message::Request(request)) if request.method == "initialize")
}

/// Returns `true` if a message has the mark of 2026-07-28 in its `_meta`
/// (VER-S1).
pub(crate) fn is_standalone(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct MarkedParams {
        #[serde(rename = "_meta")]
        meta: MarkedMeta,
    }
    #[derive(Deserialize)]
    struct MarkedMeta {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        _version: IgnoredAny,
    }
    let params = match Message::raw(body) {
        Ok(Message::Request(request)) => request.params,
        Ok(Message::Notification(notification)) => notification.params,
        _ => None,
    };
    params.is_some_and(|params| {
        serde_json::from_str(params.get()).is_ok_and(
            |MarkedParams {
                 meta: MarkedMeta { .. },
             }| true,
        )
    })
}

/// As [`is_standalone`], for a request that was decoded as one of a session.
pub(crate) fn is_marked_standalone(request: &ClientRequest) -> bool {
    let meta = match request {
        ClientRequest::CallTool(params) => &params.meta,
        ClientRequest::CancelTask(params)
        | ClientRequest::GetTask(params)
        | ClientRequest::GetTaskPayload(params) => &params.meta,
        ClientRequest::CompleteArgument(params) => &params.meta,
        ClientRequest::GetPrompt(params) => &params.meta,
        ClientRequest::Initialize(params) => &params.meta,
        ClientRequest::ListPrompts(Some(params))
        | ClientRequest::ListResourceTemplates(Some(params))
        | ClientRequest::ListResources(Some(params))
        | ClientRequest::ListTasks(Some(params))
        | ClientRequest::ListTools(Some(params)) => &params.meta,
        ClientRequest::Ping(Some(params)) => &params.meta,
        ClientRequest::ReadResource(params)
        | ClientRequest::Subscribe(params)
        | ClientRequest::Unsubscribe(params) => &params.meta,
        ClientRequest::SetLevel(params) => &params.meta,
        _ => return false,
    };
    let key = "io.modelcontextprotocol/protocolVersion";
    meta.as_ref()
        .is_some_and(|meta| meta.extra.get(key).is_some())
}

/// Returns `true` if `version` is a revision with sessions.
pub(crate) fn has_sessions(version: &str) -> bool {
    REVISIONS.iter().any(|known| known.as_str() == version)
}

/// Revisions with sessions, newest first.
pub(crate) const REVISIONS: [ProtocolVersion; 3] = [
    ProtocolVersion::V2025_11_25,
    ProtocolVersion::V2025_06_18,
    ProtocolVersion::V2025_03_26,
];

pub(crate) const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
