use std::collections::BTreeMap;

use crate::capabilities::{self, ElicitationCapability, SamplingCapability};
use crate::json::JsonObject;

wire! {
    /// Capabilities of a client, declared once per session.
    #[derive(Default)]
    pub struct ClientCapabilities {
        optional {
            /// Elicitation: the client can ask its user.
            elicitation: Option<ElicitationCapability> = "elicitation",
            /// Roots: the client can list them.
            roots: Option<RootsCapability> = "roots",
            /// Sampling: the client can call a model.
            sampling: Option<SamplingCapability> = "sampling",
            /// Requests that can run as tasks.
            tasks: Option<ClientTasksCapability> = "tasks",
            /// Experimental capabilities by name, with their settings.
            experimental: Option<BTreeMap<String, JsonObject>> = "experimental",
        }
    }
}

/// Keeps the capabilities that a server of 2026-07-28 can use. It neither asks
/// a client to run tasks nor receives changes of its roots.
impl From<&ClientCapabilities> for capabilities::ClientCapabilities {
    fn from(legacy: &ClientCapabilities) -> Self {
        let mut capabilities = Self::default();
        capabilities.elicitation.clone_from(&legacy.elicitation);
        capabilities.roots = legacy.roots.as_ref().map(|roots| roots.extra.clone());
        capabilities.sampling.clone_from(&legacy.sampling);
        capabilities.experimental.clone_from(&legacy.experimental);
        capabilities
    }
}

wire! {
    /// Root features of a client.
    #[derive(Default)]
    pub struct RootsCapability {
        optional {
            /// The client reports changes of its roots.
            list_changed: Option<bool> = "listChanged",
        }
    }
}

wire! {
    /// Task features of a client.
    #[derive(Default)]
    pub struct ClientTasksCapability {
        optional {
            /// Tasks can be listed.
            list: Option<JsonObject> = "list",
            /// Tasks can be cancelled.
            cancel: Option<JsonObject> = "cancel",
            /// Requests that can run as tasks.
            requests: Option<ClientTaskRequests> = "requests",
        }
    }
}

wire! {
    /// Requests that a client can run as tasks.
    #[derive(Default)]
    pub struct ClientTaskRequests {
        optional {
            /// Elicitation requests.
            elicitation: Option<ElicitationTasks> = "elicitation",
            /// Sampling requests.
            sampling: Option<SamplingTasks> = "sampling",
        }
    }
}

wire! {
    /// Elicitation requests that can run as tasks.
    #[derive(Default)]
    pub struct ElicitationTasks {
        optional {
            /// `elicitation/create`.
            create: Option<JsonObject> = "create",
        }
    }
}

wire! {
    /// Sampling requests that can run as tasks.
    #[derive(Default)]
    pub struct SamplingTasks {
        optional {
            /// `sampling/createMessage`.
            create_message: Option<JsonObject> = "createMessage",
        }
    }
}

/// Capabilities of a server, declared once per session.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Members that all revisions define.
    pub base: capabilities::ServerCapabilities,
    /// Requests that can run as tasks.
    pub tasks: Option<ServerTasksCapability>,
}

impl From<capabilities::ServerCapabilities> for ServerCapabilities {
    fn from(base: capabilities::ServerCapabilities) -> Self {
        Self { base, tasks: None }
    }
}

members!(ServerCapabilities {
    optional: tasks = "tasks";
    base: base
});

wire! {
    /// Task features of a server.
    #[derive(Default)]
    pub struct ServerTasksCapability {
        optional {
            /// Tasks can be listed.
            list: Option<JsonObject> = "list",
            /// Tasks can be cancelled.
            cancel: Option<JsonObject> = "cancel",
            /// Requests that can run as tasks.
            requests: Option<ServerTaskRequests> = "requests",
        }
    }
}

wire! {
    /// Requests that a server can run as tasks.
    #[derive(Default)]
    pub struct ServerTaskRequests {
        optional {
            /// Tool requests.
            tools: Option<ToolTasks> = "tools",
        }
    }
}

wire! {
    /// Tool requests that can run as tasks.
    #[derive(Default)]
    pub struct ToolTasks {
        optional {
            /// `tools/call`.
            call: Option<JsonObject> = "call",
        }
    }
}
