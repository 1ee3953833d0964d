use std::collections::BTreeMap;

use super::ExtensionId;
use crate::json::JsonObject;

wire! {
    /// Capabilities of a client, declared on a request.
    ///
    /// In 2026-07-28 every request declares them anew; earlier declarations do
    /// not count.
    #[derive(Default)]
    pub struct ClientCapabilities {
        optional {
            /// Elicitation: the client can ask its user.
            elicitation: Option<ElicitationCapability> = "elicitation",
            /// Roots: the client can list them.
            roots: Option<JsonObject> = "roots",
            /// Sampling: the client can call a model.
            sampling: Option<SamplingCapability> = "sampling",
            /// Extensions by id, with their settings.
            extensions: Option<BTreeMap<String, JsonObject>> = "extensions",
            /// Experimental capabilities by name, with their settings.
            experimental: Option<BTreeMap<String, JsonObject>> = "experimental",
        }
    }
}

impl ClientCapabilities {
    /// Returns true if the extension `name` is declared.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|extensions| extensions.contains_key(name))
    }

    /// The declared capabilities as paths of members, such as
    /// `elicitation.form`.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut add = |name: &str, parts: &[(&str, bool)]| {
            let inner = parts.iter().filter(|(_, is_there)| *is_there);
            let before = names.len();
            names.extend(inner.map(|(part, _)| format!("{name}.{part}")));
            if names.len() == before {
                names.push(name.to_owned());
            }
        };
        if let Some(elicitation) = &self.elicitation {
            let (form, url) = (elicitation.form.is_some(), elicitation.url.is_some());
            add("elicitation", &[("form", form), ("url", url)]);
        }
        if self.roots.is_some() {
            add("roots", &[]);
        }
        if let Some(sampling) = &self.sampling {
            let (tools, context) = (sampling.tools.is_some(), sampling.context.is_some());
            add("sampling", &[("tools", tools), ("context", context)]);
        }
        for (group, declared) in [
            ("extensions", &self.extensions),
            ("experimental", &self.experimental),
        ] {
            let declared = declared.iter().flat_map(BTreeMap::keys);
            names.extend(declared.map(|name| format!("{group}.{name}")));
        }
        names
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
    /// Elicitation modes of a client.
    ///
    /// Without a mode it means form mode, which is the older one.
    #[derive(Default)]
    pub struct ElicitationCapability {
        optional {
            /// Form mode: the client shows a form.
            form: Option<JsonObject> = "form",
            /// URL mode: the client sends its user to a URL.
            url: Option<JsonObject> = "url",
        }
    }
}

impl ElicitationCapability {
    /// Declares form mode only.
    pub fn form() -> Self {
        Self {
            form: Some(JsonObject::new()),
            ..Self::default()
        }
    }

    /// Declares URL mode only.
    pub fn url() -> Self {
        Self {
            url: Some(JsonObject::new()),
            ..Self::default()
        }
    }

    /// Declares both modes.
    pub fn form_and_url() -> Self {
        Self {
            url: Some(JsonObject::new()),
            ..Self::form()
        }
    }

    /// Returns true if the client can show a form.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Returns true if the client can send its user to a URL.
    pub fn has_url(&self) -> bool {
        self.url.is_some()
    }
}

wire! {
    /// Sampling features of a client.
    #[derive(Default)]
    pub struct SamplingCapability {
        optional {
            /// Tools can be passed to the model.
            tools: Option<JsonObject> = "tools",
            /// Context of MCP servers can be included (deprecated).
            context: Option<JsonObject> = "context",
        }
    }
}

impl SamplingCapability {
    /// Tools can be passed to the model.
    pub fn with_tools() -> Self {
        Self {
            tools: Some(JsonObject::new()),
            ..Self::default()
        }
    }
}
