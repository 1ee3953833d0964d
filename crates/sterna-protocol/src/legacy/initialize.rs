use super::{ClientCapabilities, RequestMeta, ServerCapabilities};
use crate::implementation::Implementation;
use crate::json::JsonObject;
use crate::meta::ResultMeta;
use crate::version::ProtocolVersion;

/// The parameters of `initialize`, the first request of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// The newest revision the client speaks.
    pub protocol_version: ProtocolVersion,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// Who the client says it is.
    pub client_info: Implementation,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl InitializeRequestParams {
    /// Opens a session.
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

/// The result of `initialize`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision the session will speak, if the client agrees.
    pub protocol_version: ProtocolVersion,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who the server says it is.
    pub server_info: Implementation,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl InitializeResult {
    /// Agrees to a session.
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
