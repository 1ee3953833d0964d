use std::collections::BTreeMap;

use crate::capabilities::{self, ElicitationCapability, SamplingCapability};
use crate::json::JsonObject;

/// What a client can do, declared once for the session.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// It can ask the user.
    pub elicitation: Option<ElicitationCapability>,
    /// It can list its roots.
    pub roots: Option<RootsCapability>,
    /// It can have a model write something.
    pub sampling: Option<SamplingCapability>,
    /// It can run what it is asked as tasks.
    pub tasks: Option<ClientTasksCapability>,
    /// Things no revision defines.
    pub experimental: Option<BTreeMap<String, JsonObject>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ClientCapabilities {
    optional: elicitation = "elicitation", roots = "roots", sampling = "sampling",
        tasks = "tasks", experimental = "experimental";
    rest: extra
});

/// What of these a server of 2026-07-28 can use: it neither asks a client to
/// run tasks nor hears of changes to its roots.
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

/// What a client can do about its roots.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RootsCapability {
    /// It tells when they change.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(RootsCapability {
    optional: list_changed = "listChanged";
    rest: extra
});

/// What a client can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientTasksCapability {
    /// It can list them.
    pub list: Option<JsonObject>,
    /// It can call them off.
    pub cancel: Option<JsonObject>,
    /// Which requests can become one.
    pub requests: Option<ClientTaskRequests>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ClientTasksCapability {
    optional: list = "list", cancel = "cancel", requests = "requests";
    rest: extra
});

/// Which requests a client can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientTaskRequests {
    /// Those that ask the user.
    pub elicitation: Option<ElicitationTasks>,
    /// Those that have a model write something.
    pub sampling: Option<SamplingTasks>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ClientTaskRequests {
    optional: elicitation = "elicitation", sampling = "sampling";
    rest: extra
});

/// Which elicitation requests can become tasks.
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

/// Which sampling requests can become tasks.
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

/// What a server offers, declared once for the session.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// What every revision knows.
    pub base: capabilities::ServerCapabilities,
    /// It can run what it is asked as tasks.
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

/// What a server can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerTasksCapability {
    /// It can list them.
    pub list: Option<JsonObject>,
    /// It can call them off.
    pub cancel: Option<JsonObject>,
    /// Which requests can become one.
    pub requests: Option<ServerTaskRequests>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ServerTasksCapability {
    optional: list = "list", cancel = "cancel", requests = "requests";
    rest: extra
});

/// Which requests a server can run as tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerTaskRequests {
    /// Those about tools.
    pub tools: Option<ToolTasks>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ServerTaskRequests {
    optional: tools = "tools";
    rest: extra
});

/// Which tool requests can become tasks.
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
