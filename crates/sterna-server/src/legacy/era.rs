//! Which era a request belongs to.

use http::{HeaderMap, Method};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sterna_http::Inbound;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::jsonrpc::Message;
use sterna_protocol::legacy::ClientRequest;

use super::{MCP_SESSION_ID, is_legacy};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// A session, or what opens one.
    Legacy,
    /// A request that stands alone, or nothing that can be told.
    Modern,
}

/// Tells the era of a request. For one that says it is modern that costs a
/// look at a header; nothing is parsed.
pub(crate) fn era(inbound: &Inbound) -> Era {
    let headers = &inbound.head.headers;
    let version = headers.get(MCP_PROTOCOL_VERSION);
    if version.is_some_and(|version| version == "2026-07-28") {
        return Era::Modern;
    }
    if inbound.head.method != Method::POST {
        return Era::Legacy;
    }
    if speaks_of_session(headers) || opens(&inbound.body) {
        // Whoever says both is judged as modern, and told what does not fit.
        return if stands_alone(&inbound.body) {
            Era::Modern
        } else {
            Era::Legacy
        };
    }
    Era::Modern
}

fn speaks_of_session(headers: &HeaderMap) -> bool {
    let version = headers.get(MCP_PROTOCOL_VERSION);
    headers.contains_key(MCP_SESSION_ID)
        || version.is_some_and(|version| version.to_str().is_ok_and(is_legacy))
}

fn opens(body: &[u8]) -> bool {
    matches!(Message::raw(body), Ok(Message::Request(request)) if request.method == "initialize")
}

/// Whether a request has the mark of a modern one (VER-S1).
pub(crate) fn stands_alone(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        _version: IgnoredAny,
    }
    let params = match Message::raw(body) {
        Ok(Message::Request(request)) => request.params,
        Ok(Message::Notification(notification)) => notification.params,
        _ => None,
    };
    params.is_some_and(|params| {
        serde_json::from_str(params.get()).is_ok_and(|Params { meta: Meta { .. } }| true)
    })
}

/// Returns `true` if a request that was decoded as one of a session has the
/// mark of a modern one in its `_meta`.
pub(crate) fn has_version(request: &ClientRequest) -> bool {
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
