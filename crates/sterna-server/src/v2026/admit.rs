//! Checks of a request before it is dispatched, in the order of the
//! specification.

use std::sync::Arc;

use http::HeaderMap;
use serde::Deserialize;
use sterna_http::{Inbound, Transport};
use sterna_protocol::http::{HeaderMismatch, MCP_PROTOCOL_VERSION, RequestHeaders, mirrored_name};
use sterna_protocol::json::mismatch;
use sterna_protocol::jsonrpc::{DecodeError, Dispatch as _, Message};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::methods::ClientRequest;
use sterna_protocol::version::ProtocolVersion;

use super::tasks::{self, AnyTaskRequest};
use crate::catalog::ToolEntry;
use crate::core::Core;
use crate::failure::Failure;
use crate::task_mode::TaskDialect;
use crate::wording;

/// Headers that must repeat what the message says; `None` for a line, which has
/// none.
pub(super) fn mirrored_headers(inbound: &Inbound) -> Option<&HeaderMap> {
    match inbound.transport {
        Transport::Lines => None,
        _ => Some(&inbound.head.headers),
    }
}

/// Checks a request that could be read, and returns the tool that it calls.
pub(super) fn check(
    core: &Core,
    request: &ClientRequest,
    headers: Option<&HeaderMap>,
) -> Result<Option<Arc<ToolEntry>>, Failure> {
    let meta = meta(request)?;
    let name = match request {
        ClientRequest::CallTool(params) => Some(params.name.as_str()),
        ClientRequest::GetPrompt(params) => Some(params.name.as_str()),
        ClientRequest::ReadResource(params) => Some(params.uri.as_str()),
        _ => None,
    };
    check_head(meta, request.method().as_str(), name, headers)?;
    let ClientRequest::CallTool(params) = request else {
        return Ok(None);
    };
    let Some(tool) = core.offers.tools.get(&params.name) else {
        return Ok(None);
    };
    if let Some(headers) = headers {
        // HTTP-S14 to HTTP-S19
        tool.headers
            .check(params.arguments.as_ref(), headers)
            .map_err(Failure::Header)?;
    }
    Ok(Some(Arc::clone(tool)))
}

/// Checks a request about a task that could be read, and chooses the dialect of
/// its answer.
pub(super) fn check_task(
    core: &Core,
    request: &AnyTaskRequest,
    headers: Option<&HeaderMap>,
) -> Result<TaskDialect, Failure> {
    let (meta, method) = (tasks::meta(request)?, tasks::method(request));
    check_head(meta, method, tasks::mirrored_id(request), headers)?;
    tasks::dialect(core, method, &meta.client_capabilities)
}

/// Finds out what is wrong with a request that could not be read: the earliest
/// check it fails, not the one at which reading stopped.
pub(super) fn explain(
    core: &Core,
    error: DecodeError,
    body: &[u8],
    headers: Option<&HeaderMap>,
) -> Failure {
    let meta = match check_raw(body, headers) {
        Err(failure) => return failure,
        Ok(meta) => meta,
    };
    // Parameters of a method that the server does not offer are not judged.
    if let (DecodeError::InvalidParams { method, .. }, Some(meta)) = (&error, meta)
        && AnyTaskRequest::find(method).is_some()
        && let Err(failure) = tasks::dialect(core, method, &meta.client_capabilities)
    {
        return failure;
    }
    Failure::Decode(error)
}

/// Checks a request whose parameters have not been decoded: one of another
/// author's extension, or one that cannot be decoded. Returns its `_meta`;
/// `None` for a message that is no request.
pub(super) fn check_raw(
    body: &[u8],
    headers: Option<&HeaderMap>,
) -> Result<Option<RequestMeta>, Failure> {
    #[derive(Deserialize)]
    struct StandaloneParams {
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
    let Ok(Message::Request(request)) = Message::raw(body) else {
        return Ok(None);
    };
    if headers.is_some_and(|headers| !headers.contains_key(MCP_PROTOCOL_VERSION)) {
        let missing = HeaderMismatch::Missing(MCP_PROTOCOL_VERSION);
        return Err(Failure::Header(missing));
    }
    // BASE-S12
    let params = request.params.ok_or_else(|| Failure::params(NO_META))?;
    let StandaloneParams { meta } =
        serde_json::from_str(params.get()).map_err(|error| bad_meta(&error))?;
    let name = mirrored_name(&request.method, params);
    check_head(&meta, &request.method, name.as_deref(), headers)?;
    Ok(Some(meta))
}

/// Checks what the request says about itself, in its `_meta` and in the headers
/// that repeat it.
fn check_head(
    meta: &RequestMeta,
    method: &str,
    name: Option<&str>,
    headers: Option<&HeaderMap>,
) -> Result<(), Failure> {
    let version = &meta.protocol_version;
    let mirrored = RequestHeaders::new(version.as_str(), method, name);
    // Headers that repeat the body as it is need no check of their own.
    let headers = headers.filter(|headers| !mirrored.is_repeated_in(headers));
    if let Some(headers) = headers {
        // HTTP-S11, HTTP-S13: before the version itself is judged.
        mirrored.check_version(headers).map_err(Failure::Header)?;
    }
    if *version != ProtocolVersion::V2026_07_28 {
        // VER-S1
        return Err(Failure::Version(version.clone()));
    }
    if let Some(LoggingLevel::Other(level)) = &meta.log_level {
        // LOG-S4
        return Err(Failure::params(format!(
            "`io.modelcontextprotocol/logLevel` in `_meta` is {}, which is no level",
            wording::name(level.as_str())
        )));
    }
    match headers {
        Some(headers) => mirrored.check_target(headers).map_err(Failure::Header),
        None => Ok(()),
    }
}

/// `_meta` of a request.
pub(super) fn meta(request: &ClientRequest) -> Result<&RequestMeta, Failure> {
    Ok(match request {
        ClientRequest::CallTool(params) => &params.meta,
        ClientRequest::CompleteArgument(params) => &params.meta,
        ClientRequest::Discover(params) => &params.meta,
        ClientRequest::GetPrompt(params) => &params.meta,
        ClientRequest::ListPrompts(params)
        | ClientRequest::ListResourceTemplates(params)
        | ClientRequest::ListResources(params)
        | ClientRequest::ListTools(params) => &params.meta,
        ClientRequest::ReadResource(params) => &params.meta,
        ClientRequest::SubscriptionsListen(params) => &params.meta,
        // A method that the protocol crate learns before we do.
        other => return Err(Failure::UnknownMethod(other.method().as_str().to_owned())),
    })
}

/// The `_meta` of a request cannot be read.
fn bad_meta(error: &serde_json::Error) -> Failure {
    Failure::params(format!("`_meta`: {}", mismatch(error)))
}

/// BASE-S12
const NO_META: &str = "`_meta` is missing; it must have \
    `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities`";
