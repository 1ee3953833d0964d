//! The head that a line would have as a POST.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request};
use serde::Deserialize;
use sterna_protocol::http::{RequestHeaders, mirrored_name};
use sterna_protocol::jsonrpc::Message;
use sterna_protocol::tool::CallToolRequestParams;
use sterna_protocol::version::ProtocolVersion;

use crate::core::Core;
use crate::legacy::MCP_SESSION_ID;

/// The head of a modern message: it repeats what the body says, so that no
/// check of headers finds a difference. Where the body says nothing the checks
/// of the body find out.
pub(super) fn modern(core: &Core, line: &[u8]) -> Parts {
    let mut parts = parts(Method::POST);
    let Ok(Message::Request(request)) = Message::raw(line) else {
        return parts;
    };
    let params = request.params;
    let version = params.and_then(|params| version(params.get()));
    let version = version.unwrap_or(ProtocolVersion::V2026_07_28);
    let name = params.and_then(|params| mirrored_name(&request.method, params));
    let headers = &mut parts.headers;
    // What has no form in a header is refused for that, and is no method of ours.
    let _ = RequestHeaders::new(version.as_str(), &request.method, name.as_deref()).write(headers);
    if request.method == "tools/call"
        && let Some(params) = params
        && let Ok(params) = serde_json::from_str::<CallToolRequestParams>(params.get())
    {
        mirror(core, &params, headers);
    }
    parts
}

fn mirror(core: &Core, params: &CallToolRequestParams, headers: &mut HeaderMap) {
    if let Some(tool) = core.offers.tools.get(&params.name) {
        // As above.
        let _ = tool.headers.write(params.arguments.as_ref(), headers);
    }
}

fn version(params: &str) -> Option<ProtocolVersion> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        version: ProtocolVersion,
    }
    let params: Params = serde_json::from_str(params).ok()?;
    Some(params.meta.version)
}

/// The head of a message within a session, or of the one that opens it.
pub(super) fn legacy(method: Method, session: Option<HeaderValue>) -> Parts {
    let mut parts = parts(method);
    if let Some(session) = session {
        parts.headers.insert(MCP_SESSION_ID, session);
    }
    parts
}

fn parts(method: Method) -> Parts {
    let mut request = Request::new(());
    *request.method_mut() = method;
    request.into_parts().0
}
