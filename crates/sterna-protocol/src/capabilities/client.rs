use std::collections::BTreeMap;

use super::ExtensionId;
use crate::json::JsonObject;

/// What a client can do while a server works on its request.
///
/// In 2026-07-28 every request declares them anew; what an earlier request
/// declared does not count.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// It can ask the user.
    pub elicitation: Option<ElicitationCapability>,
    /// It can list its roots.
    pub roots: Option<JsonObject>,
    /// It can have a model write something.
    pub sampling: Option<SamplingCapability>,
    /// Extensions it speaks, with their settings.
    pub extensions: Option<BTreeMap<String, JsonObject>>,
    /// Things no revision defines.
    pub experimental: Option<BTreeMap<String, JsonObject>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ClientCapabilities {
    /// Whether the extension `name` is declared.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|extensions| extensions.contains_key(name))
    }

    /// The names of what is declared, each as the path to its member, such as
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

    /// The same, declaring an extension without settings.
    #[must_use]
    pub fn with_extension(mut self, extension: &ExtensionId) -> Self {
        let extensions = self.extensions.get_or_insert_default();
        extensions.insert(extension.as_str().to_owned(), JsonObject::new());
        self
    }
}

members!(ClientCapabilities {
    optional: elicitation = "elicitation", roots = "roots", sampling = "sampling",
        extensions = "extensions", experimental = "experimental";
    rest: extra
});

/// How a client can ask the user.
///
/// One that names no mode has form mode, which came first.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// By a form.
    pub form: Option<JsonObject>,
    /// By sending the user to a URL.
    pub url: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ElicitationCapability {
    /// By a form only.
    pub fn form() -> Self {
        Self {
            form: Some(JsonObject::new()),
            ..Self::default()
        }
    }

    /// By a URL only.
    pub fn url() -> Self {
        Self {
            url: Some(JsonObject::new()),
            ..Self::default()
        }
    }

    /// By a form or a URL.
    pub fn form_and_url() -> Self {
        Self {
            url: Some(JsonObject::new()),
            ..Self::form()
        }
    }

    /// Whether a form can be shown.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Whether the user can be sent to a URL.
    pub fn has_url(&self) -> bool {
        self.url.is_some()
    }
}

members!(ElicitationCapability {
    optional: form = "form", url = "url";
    rest: extra
});

/// What a client's model can do.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// It can be given tools.
    pub tools: Option<JsonObject>,
    /// It can be given context of MCP servers (deprecated).
    pub context: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl SamplingCapability {
    /// It can be given tools.
    pub fn with_tools() -> Self {
        Self {
            tools: Some(JsonObject::new()),
            ..Self::default()
        }
    }
}

members!(SamplingCapability {
    optional: tools = "tools", context = "context";
    rest: extra
});
