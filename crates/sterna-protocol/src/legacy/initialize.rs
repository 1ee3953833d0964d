use super::{ClientCapabilities, RequestMeta, ServerCapabilities};
use crate::implementation::Implementation;
use crate::json::JsonObject;
use crate::meta::ResultMeta;
use crate::version::ProtocolVersion;

/// Parameters of `initialize`, the first request of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// Newest revision that the client speaks.
    pub protocol_version: ProtocolVersion,
    /// Capabilities of the client.
    pub capabilities: ClientCapabilities,
    /// Client info: self-reported name and version.
    pub client_info: Implementation,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl InitializeRequestParams {
    /// Creates the request of a client that opens a session.
    pub fn new(
        protocol_version: ProtocolVersion,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self {
            protocol_version,
            capabilities,
            client_info,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(InitializeRequestParams {
    required: protocol_version = "protocolVersion", capabilities = "capabilities",
        client_info = "clientInfo";
    optional: meta = "_meta";
    rest: extra
});

/// Result of `initialize`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// Revision of the session, if the client accepts it.
    pub protocol_version: ProtocolVersion,
    /// Capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Server info: self-reported name and version.
    pub server_info: Implementation,
    /// Instructions for the model on how to use the server.
    pub instructions: Option<String>,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl InitializeResult {
    /// Accepts the session.
    pub fn new(
        protocol_version: ProtocolVersion,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self {
            protocol_version,
            capabilities,
            server_info,
            instructions: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(InitializeResult {
    required: protocol_version = "protocolVersion", capabilities = "capabilities",
        server_info = "serverInfo";
    optional: instructions = "instructions", meta = "_meta";
    rest: extra
});
