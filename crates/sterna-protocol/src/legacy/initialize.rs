use super::{ClientCapabilities, RequestMeta, ServerCapabilities};
use crate::implementation::Implementation;
use crate::meta::ResultMeta;
use crate::version::ProtocolVersion;

wire! {
    /// Parameters of `initialize`, the first request of a session.
    pub struct InitializeRequestParams {
        required {
            /// Newest revision that the client speaks.
            protocol_version: ProtocolVersion = "protocolVersion",
            /// Capabilities of the client.
            capabilities: ClientCapabilities = "capabilities",
            /// Client info: self-reported name and version.
            client_info: Implementation = "clientInfo",
        }
        optional {
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }

    /// Creates the request of a client that opens a session.
    new(
        protocol_version: ProtocolVersion,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    );
}

wire! {
    /// Result of `initialize`.
    pub struct InitializeResult {
        required {
            /// Revision of the session, if the client accepts it.
            protocol_version: ProtocolVersion = "protocolVersion",
            /// Capabilities of the server.
            capabilities: ServerCapabilities = "capabilities",
            /// Server info: self-reported name and version.
            server_info: Implementation = "serverInfo",
        }
        optional {
            /// Instructions for the model on how to use the server.
            instructions: Option<String> = "instructions",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Accepts the session.
    new(
        protocol_version: ProtocolVersion,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    );
}
