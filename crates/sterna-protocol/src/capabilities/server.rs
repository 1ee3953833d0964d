use std::collections::BTreeMap;

use super::ExtensionId;
use crate::json::JsonObject;

wire! {
    /// Capabilities of a server.
    #[derive(Default)]
    pub struct ServerCapabilities {
        optional {
            /// Tools: the server has tools to call.
            tools: Option<ToolsCapability> = "tools",
            /// Prompts: the server has prompts to get.
            prompts: Option<PromptsCapability> = "prompts",
            /// Resources: the server has resources to read.
            resources: Option<ResourcesCapability> = "resources",
            /// Argument completion.
            completions: Option<JsonObject> = "completions",
            /// Log messages to the client (deprecated).
            logging: Option<JsonObject> = "logging",
            /// Extensions by id, with their settings.
            extensions: Option<BTreeMap<String, JsonObject>> = "extensions",
            /// Experimental capabilities by name, with their settings.
            experimental: Option<BTreeMap<String, JsonObject>> = "experimental",
        }
    }
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

wire! {
    /// Tool features of a server.
    #[derive(Default)]
    pub struct ToolsCapability {
        optional {
            /// The server reports changes of the list.
            list_changed: Option<bool> = "listChanged",
        }
    }
}

wire! {
    /// Prompt features of a server.
    #[derive(Default)]
    pub struct PromptsCapability {
        optional {
            /// The server reports changes of the list.
            list_changed: Option<bool> = "listChanged",
        }
    }
}

wire! {
    /// Resource features of a server.
    #[derive(Default)]
    pub struct ResourcesCapability {
        optional {
            /// The server reports changes of the resources that a client
            /// subscribed to.
            subscribe: Option<bool> = "subscribe",
            /// The server reports changes of the list.
            list_changed: Option<bool> = "listChanged",
        }
    }
}
