//! Message metadata (`_meta`), with the reserved keys as fields.

mod trace;

pub use crate::meta_key::{InvalidMetaKey, MetaKey};
pub use crate::notification::{NotificationMeta, NotificationParams, RelatedTaskMetadata};
pub use trace::{is_baggage, is_tracestate, trace_id};

use std::sync::Arc;

use crate::capabilities::ClientCapabilities;
use crate::implementation::Implementation;
use crate::logging::LoggingLevel;
use crate::progress::ProgressToken;
use crate::version::ProtocolVersion;

wire! {
    /// Metadata (`_meta`) of a request of 2026-07-28.
    ///
    /// Self-contained: the server needs no earlier request of the client. What a
    /// client repeats in all its requests is shared, so that a server may keep
    /// it instead of decoding it again.
    pub struct RequestMeta {
        required {
            /// Protocol revision of the request.
            protocol_version: ProtocolVersion = "io.modelcontextprotocol/protocolVersion",
            /// Capabilities of the client during this request.
            client_capabilities: Arc<ClientCapabilities> = "io.modelcontextprotocol/clientCapabilities",
        }
        optional {
            /// Client info: self-reported name and version.
            client_info: Option<Arc<Implementation>> = "io.modelcontextprotocol/clientInfo",
            /// Lowest level of log messages to send about this request.
            log_level: Option<LoggingLevel> = "io.modelcontextprotocol/logLevel",
            /// Token for progress notifications about this request.
            progress_token: Option<ProgressToken> = "progressToken",
            /// W3C trace context: parent span of the request.
            traceparent: Option<String> = "traceparent",
            /// W3C trace context: vendor data.
            tracestate: Option<String> = "tracestate",
            /// W3C baggage.
            baggage: Option<String> = "baggage",
        }
    }

    /// Creates metadata with the two required keys.
    new(protocol_version: ProtocolVersion, client_capabilities: impl Into<Arc<ClientCapabilities>>);
}

impl RequestMeta {
    /// Adds the client's name and version.
    #[must_use]
    pub fn with_client_info(mut self, client_info: Implementation) -> Self {
        self.client_info = Some(client_info.into());
        self
    }
}

wire! {
    /// Parameters of a request without any of its own.
    pub struct RequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
        }
    }

    /// Creates parameters with `meta` only.
    new(meta: RequestMeta);
}

wire! {
    /// Metadata (`_meta`) of a result.
    ///
    /// The server info is shared: it is the same in all results, and a result
    /// that is moved from one place to the next stays small.
    #[derive(Default)]
    pub struct ResultMeta {
        optional {
            /// Server info: self-reported name and version.
            server_info: Option<Arc<Implementation>> = "io.modelcontextprotocol/serverInfo",
            /// Task of 2025-11-25 that the result belongs to.
            related_task: Option<RelatedTaskMetadata> = "io.modelcontextprotocol/related-task",
        }
    }
}

impl ResultMeta {
    /// Names the server that answers.
    pub fn of(server_info: impl Into<Arc<Implementation>>) -> Self {
        Self {
            server_info: Some(server_info.into()),
            ..Self::default()
        }
    }
}
