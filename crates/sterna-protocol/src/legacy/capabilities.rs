use std::collections::BTreeMap;

use crate::capabilities::{self, ElicitationCapability, SamplingCapability};
use crate::json::JsonObject;

/// Capabilities of a client, declared once per session.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Elicitation: the client can ask its user.
    pub elicitation: Option<ElicitationCapability>,
    /// Roots: the client can list them.
    pub roots: Option<RootsCapability>,
    /// Sampling: the client can call a model.
    pub sampling: Option<SamplingCapability>,
    /// Requests that can run as tasks.
    pub tasks: Option<ClientTasksCapability>,
    /// Experimental capabilities by name, with their settings.
    pub experimental: Option<BTreeMap<String, JsonObject>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ClientCapabilities {
    optional: elicitation = "elicitation", roots = "roots", sampling = "sampling",
        tasks = "tasks", experimental = "experimental";
    rest: extra
});

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

/// Root features of a client.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RootsCapability {
    /// The client reports changes of its roots.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(RootsCapability {
    optional: list_changed = "listChanged";
    rest: extra
});

/// Task features of a client.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientTasksCapability {
    /// Tasks can be listed.
    pub list: Option<JsonObject>,
    /// Tasks can be cancelled.
    pub cancel: Option<JsonObject>,
    /// Requests that can run as tasks.
    pub requests: Option<ClientTaskRequests>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ClientTasksCapability {
    optional: list = "list", cancel = "cancel", requests = "requests";
    rest: extra
});

/// Requests that a client can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientTaskRequests {
    /// Elicitation requests.
    pub elicitation: Option<ElicitationTasks>,
    /// Sampling requests.
    pub sampling: Option<SamplingTasks>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ClientTaskRequests {
    optional: elicitation = "elicitation", sampling = "sampling";
    rest: extra
});

/// Elicitation requests that can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ElicitationTasks {
    /// `elicitation/create`.
    pub create: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ElicitationTasks {
    optional: create = "create";
    rest: extra
});

/// Sampling requests that can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SamplingTasks {
    /// `sampling/createMessage`.
    pub create_message: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(SamplingTasks {
    optional: create_message = "createMessage";
    rest: extra
});

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

/// Task features of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerTasksCapability {
    /// Tasks can be listed.
    pub list: Option<JsonObject>,
    /// Tasks can be cancelled.
    pub cancel: Option<JsonObject>,
    /// Requests that can run as tasks.
    pub requests: Option<ServerTaskRequests>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ServerTasksCapability {
    optional: list = "list", cancel = "cancel", requests = "requests";
    rest: extra
});

/// Requests that a server can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerTaskRequests {
    /// Tool requests.
    pub tools: Option<ToolTasks>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ServerTaskRequests {
    optional: tools = "tools";
    rest: extra
});

/// Tool requests that can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolTasks {
    /// `tools/call`.
    pub call: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ToolTasks {
    optional: call = "call";
    rest: extra
});
