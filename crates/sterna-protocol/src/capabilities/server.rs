use std::collections::BTreeMap;

use super::ExtensionId;
use crate::json::JsonObject;

/// What a server offers.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// It has tools.
    pub tools: Option<ToolsCapability>,
    /// It has prompts.
    pub prompts: Option<PromptsCapability>,
    /// It has resources.
    pub resources: Option<ResourcesCapability>,
    /// It suggests arguments.
    pub completions: Option<JsonObject>,
    /// It sends log messages to who wants them (deprecated).
    pub logging: Option<JsonObject>,
    /// Extensions it speaks, with their settings.
    pub extensions: Option<BTreeMap<String, JsonObject>>,
    /// Things no revision defines.
    pub experimental: Option<BTreeMap<String, JsonObject>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ServerCapabilities {
    /// Whether the extension `name` is declared.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|extensions| extensions.contains_key(name))
    }

    /// The same, declaring an extension without settings.
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

/// What a server can do about its tools.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolsCapability {
    /// It tells when the list changes.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ToolsCapability {
    optional: list_changed = "listChanged";
    rest: extra
});

/// What a server can do about its prompts.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptsCapability {
    /// It tells when the list changes.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(PromptsCapability {
    optional: list_changed = "listChanged";
    rest: extra
});

/// What a server can do about its resources.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// It tells when a resource changes that a client subscribed to.
    pub subscribe: Option<bool>,
    /// It tells when the list changes.
    pub list_changed: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ResourcesCapability {
    optional: subscribe = "subscribe", list_changed = "listChanged";
    rest: extra
});
