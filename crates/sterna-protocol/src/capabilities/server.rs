use std::collections::BTreeMap;

use super::ExtensionId;
use crate::json::JsonObject;

/// Capabilities of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Tools.
    pub tools: Option<ToolsCapability>,
    /// Prompts.
    pub prompts: Option<PromptsCapability>,
    /// Resources.
    pub resources: Option<ResourcesCapability>,
    /// Argument completion.
    pub completions: Option<JsonObject>,
    /// Log messages to the client (deprecated).
    pub logging: Option<JsonObject>,
    /// Extensions by id, with their settings.
    pub extensions: Option<BTreeMap<String, JsonObject>>,
    /// Experimental capabilities by name, with their settings.
    pub experimental: Option<BTreeMap<String, JsonObject>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ServerCapabilities {
    /// Returns true if the extension `name` is declared.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|extensions| extensions.contains_key(name))
    }

    /// Declares `extension` without settings.
    #[must_use]
    pub fn with_extension(mut self, extension: &ExtensionId) -> Self {
        let extensions = self.extensions.get_or_insert_default();
        extensions.insert(extension.as_str().to_owned(), JsonObject::new());
        self
    }
}

members!(ServerCapabilities {
    optional: tools = "tools", prompts = "prompts", resources = "resources",
        completions = "completions", logging = "logging", extensions = "extensions",
        experimental = "experimental";
    rest: extra
});

/// Tool features of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolsCapability {
    /// The server reports changes of the list.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ToolsCapability {
    optional: list_changed = "listChanged";
    rest: extra
});

/// Prompt features of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptsCapability {
    /// The server reports changes of the list.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(PromptsCapability {
    optional: list_changed = "listChanged";
    rest: extra
});

/// Resource features of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// The server reports changes of the resources that a client subscribed to.
    pub subscribe: Option<bool>,
    /// The server reports changes of the list.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ResourcesCapability {
    optional: subscribe = "subscribe", list_changed = "listChanged";
    rest: extra
});
