//! The catalog of a server: tools, prompts, resources and their templates.

/// Writes setters of optional members, one for each `name: Type => field`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $($field:ident).+;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: impl Into<$type>) -> Self {
            self.$($field).+ = Some($name.into());
            self
        }
    )+};
}

mod arguments;
mod complete;
mod explain;
mod extension;
mod forward;
mod general;
mod input;
mod prompt;
mod resource;
mod secret;
mod template;
mod tool;
mod uri_template;

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use complete::Completers;
pub use complete::CompletionRequest;
pub use extension::Extension;
pub(crate) use extension::Extensions;
pub use prompt::Prompt;
pub use resource::{FromUri, Resource, Uri};
pub use template::ResourceTemplate;
pub use tool::Tool;

pub(crate) use prompt::PromptEntry;
pub(crate) use resource::ResourceEntry;
pub(crate) use template::TemplateEntry;
pub(crate) use tool::{Tasking, ToolEntry};

use crate::environment::States;
use crate::task_mode::TaskMode;

/// Something a server offers. Made from each of them by `into()`.
#[derive(Debug)]
#[non_exhaustive]
pub enum CatalogEntry {
    /// A prompt.
    Prompt(Prompt),
    /// A resource.
    Resource(Resource),
    /// Resources whose addresses follow a pattern.
    ResourceTemplate(ResourceTemplate),
    /// A tool.
    Tool(Tool),
}

impl From<Prompt> for CatalogEntry {
    fn from(prompt: Prompt) -> Self {
        Self::Prompt(prompt)
    }
}

impl From<Resource> for CatalogEntry {
    fn from(resource: Resource) -> Self {
        Self::Resource(resource)
    }
}

impl From<ResourceTemplate> for CatalogEntry {
    fn from(template: ResourceTemplate) -> Self {
        Self::ResourceTemplate(template)
    }
}

impl From<Tool> for CatalogEntry {
    fn from(tool: Tool) -> Self {
        Self::Tool(tool)
    }
}

impl CatalogEntry {
    /// State that its handler takes.
    fn states(&self) -> &[(TypeId, &'static str)] {
        match self {
            Self::Prompt(prompt) => &prompt.states,
            Self::Resource(resource) => &resource.states,
            Self::ResourceTemplate(template) => &template.states,
            Self::Tool(tool) => &tool.states,
        }
    }

    /// Its kind and name, for an error.
    fn title(&self) -> String {
        match self {
            Self::Prompt(prompt) => format!("prompt `{}`", prompt.name()),
            Self::Resource(resource) => format!("resource `{}`", resource.uri()),
            Self::ResourceTemplate(template) => {
                format!("resource template `{}`", template.pattern())
            }
            Self::Tool(tool) => format!("tool `{}`", tool.name()),
        }
    }
}

/// Everything a server offers, in the order in which it was registered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    /// `true` if entries may be added while the server runs.
    pub(crate) changing: bool,
    /// `true` if a backend serves the entries, and completes their arguments.
    pub(crate) is_backed: bool,
    pub(crate) tools: EntryList<ToolEntry>,
    pub(crate) prompts: EntryList<PromptEntry>,
    pub(crate) resources: EntryList<ResourceEntry>,
    pub(crate) templates: EntryList<TemplateEntry>,
}

impl Catalog {
    pub(crate) fn has_tools(&self) -> bool {
        self.changing || !self.tools.is_empty()
    }

    pub(crate) fn has_prompts(&self) -> bool {
        self.changing || !self.prompts.is_empty()
    }

    pub(crate) fn has_resources(&self) -> bool {
        self.changing || !self.resources.is_empty() || !self.templates.is_empty()
    }

    /// Returns `true` if a tool runs as a task, or one that does may be added.
    pub(crate) fn may_run_tasks(&self) -> bool {
        let mut tools = self.tools.iter();
        self.changing && !self.is_backed || tools.any(|tool| tool.task.mode != TaskMode::Never)
    }

    pub(crate) fn completes(&self) -> bool {
        let mut prompts = self.prompts.iter();
        let mut templates = self.templates.iter();
        self.is_backed
            || prompts.any(|prompt| !prompt.completers.is_empty())
            || templates.any(|template| !template.completers.is_empty())
    }

    /// Returns the name of a request's target for the log: a name of the catalog,
    /// never text of a client. For a resource that follows a pattern, the pattern.
    pub(crate) fn shown(&self, method: &str, name: &str) -> Option<&str> {
        match method {
            "tools/call" => self.tools.get(name).map(|tool| &*tool.wire.name),
            "prompts/get" => self.prompts.get(name).map(|prompt| &*prompt.wire.name),
            "resources/read" => match self.resources.get(name) {
                Some(resource) => Some(&resource.wire.uri),
                None => self.templates.iter().find_map(|template| {
                    template.input(name)?;
                    Some(&*template.wire.uri_template)
                }),
            },
            _ => None,
        }
    }

    /// Adds an offer whose handler finds its state in `states`, or says what is
    /// wrong with it.
    pub(crate) fn put(&mut self, offer: CatalogEntry, states: &States) -> Result<(), String> {
        if let Some(missing) = states.missing(offer.states()) {
            return Err(format!(
                "MR0211: the {} takes `State<{missing}>`, and the server has no `{missing}`: \
                 give it one with `Server::state`",
                offer.title()
            ));
        }
        match offer {
            CatalogEntry::Prompt(prompt) => {
                let entry = prompt.finish()?;
                let name = entry.wire.name.clone();
                self.prompts.put(&name, entry, "prompt")
            }
            CatalogEntry::Resource(resource) => {
                let entry = resource.finish()?;
                let uri = entry.wire.uri.clone();
                self.resources.put(&uri, entry, "resource")
            }
            CatalogEntry::ResourceTemplate(template) => {
                let entry = template.finish()?;
                let pattern = entry.wire.uri_template.clone();
                self.templates.put(&pattern, entry, "resource template")
            }
            CatalogEntry::Tool(tool) => {
                let entry = tool.finish()?;
                let name = entry.wire.name.clone();
                self.tools.put(&name, entry, "tool")
            }
        }
    }
}

/// Catalog of one kind, in order and by name. A copy shares its entries.
#[derive(Debug)]
pub(crate) struct EntryList<T> {
    entries: Vec<(String, Arc<T>)>,
    /// Ordered, because most servers offer a handful: comparing is then cheaper than hashing.
    index: BTreeMap<String, usize>,
}

impl<T> EntryList<T> {
    fn put(&mut self, name: &str, entry: T, kind: &str) -> Result<(), String> {
        if self.index.contains_key(name) {
            return Err(format!("the {kind} `{name}` is there twice"));
        }
        self.index.insert(name.to_owned(), self.entries.len());
        self.entries.push((name.to_owned(), Arc::new(entry)));
        Ok(())
    }

    /// Keeps the entries whose names are `wanted`.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.entries.retain(|(name, _)| wanted(name));
        let names = self.entries.iter().map(|(name, _)| name.clone());
        self.index = names.zip(0..).collect();
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<T>> {
        self.index.get(name).map(|at| &self.entries[*at].1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, entry)| &**entry)
    }

    /// The names of all entries.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T> Clone for EntryList<T> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            index: self.index.clone(),
        }
    }
}

impl<T> Default for EntryList<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            index: BTreeMap::new(),
        }
    }
}
