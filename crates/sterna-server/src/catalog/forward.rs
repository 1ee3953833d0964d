//! Entries of a catalog whose calls a backend serves. They are taken as they
//! are: it is for the backend to judge arguments and results.

use std::sync::Arc;

use serde_json::Value;
use sterna_protocol::http::ParamHeaders;
use sterna_protocol::{prompt, resource, tool};
use sterna_seal::Target;

use super::complete::Completers;
use super::input::InputCheck;
use super::uri_template::UriTemplate;
use super::{Catalog, PromptEntry, ResourceEntry, Tasking, TemplateEntry, ToolEntry};
use crate::handler::HandlerKind;

impl Catalog {
    /// The empty catalog of a server with a backend.
    pub(crate) fn of_backend() -> Self {
        Self {
            changing: true,
            is_backed: true,
            ..Self::default()
        }
    }

    pub(crate) fn forward_tool(&mut self, wire: tool::Tool) {
        let name = wire.name.clone();
        let entry = ToolEntry {
            // HTTP-S14: a client leaves out a tool whose annotations are bad, so nothing is mirrored.
            headers: ParamHeaders::of(&wire.input_schema).unwrap_or_default(),
            input: InputCheck::new(&Value::Bool(true)).expect("`true` is a schema"),
            output: None,
            lifetimes: None,
            task: Tasking::default(),
            requires_store: false,
            is_single_use: false,
            digest: Target::new("tools/call", &name).digest(),
            way: Arc::new(HandlerKind::Backend),
            wire,
        };
        note(self.tools.put(&name, entry, "tool"));
    }

    pub(crate) fn forward_prompt(&mut self, wire: prompt::Prompt) {
        let name = wire.name.clone();
        let entry = PromptEntry {
            wire,
            completers: Completers::default(),
            lifetimes: None,
            way: Arc::new(HandlerKind::Backend),
        };
        note(self.prompts.put(&name, entry, "prompt"));
    }

    pub(crate) fn forward_resource(&mut self, wire: resource::Resource) {
        let uri = wire.uri.clone();
        let entry = ResourceEntry {
            wire,
            lifetimes: None,
            way: Arc::new(HandlerKind::Backend),
        };
        note(self.resources.put(&uri, entry, "resource"));
    }

    pub(crate) fn forward_template(&mut self, wire: resource::ResourceTemplate) {
        let pattern = wire.uri_template.clone();
        let entry = TemplateEntry {
            wire,
            pattern: UriTemplate::parse(&pattern).ok(),
            completers: Completers::default(),
            lifetimes: None,
            way: Arc::new(HandlerKind::Backend),
        };
        note(self.templates.put(&pattern, entry, "resource template"));
    }
}

/// Logs that a name is there twice: the first one is kept.
fn note(put: Result<(), String>) {
    if let Err(problem) = put {
        tracing::warn!(target: "sterna::server", "a view of the backend: {problem}");
    }
}
