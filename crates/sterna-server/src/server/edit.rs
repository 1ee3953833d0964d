//! Changes of the tools, prompts and resources of a running server.

use std::collections::HashSet;
use std::sync::Arc;

use super::BuildError;
use super::build::{metric_names, missing_store};
use crate::catalog::{Catalog, CatalogEntry};
use crate::changes::{Change, Changes};
use crate::core::Core;
use crate::current::ReplaceableCore;

/// Change of a server's tools, prompts and resources, for
/// [`Changes::update`](crate::Changes::update).
///
/// Removals are applied before additions, so that an edit can replace an entry.
/// Removing an entry that is not there is no error.
#[derive(Debug, Default)]
#[must_use = "an edit does nothing until it is made"]
pub struct Edit {
    offered: Vec<CatalogEntry>,
    tools: HashSet<String>,
    prompts: HashSet<String>,
    resources: HashSet<String>,
    templates: HashSet<String>,
}

impl Edit {
    /// Changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers one thing more, at the end of its list.
    pub fn offer(mut self, offer: impl Into<CatalogEntry>) -> Self {
        self.offered.push(offer.into());
        self
    }

    /// Takes a tool away.
    pub fn without_tool(mut self, name: impl Into<String>) -> Self {
        self.tools.insert(name.into());
        self
    }

    /// Takes a prompt away.
    pub fn without_prompt(mut self, name: impl Into<String>) -> Self {
        self.prompts.insert(name.into());
        self
    }

    /// Takes the resource at `uri` away.
    pub fn without_resource(mut self, uri: impl Into<String>) -> Self {
        self.resources.insert(uri.into());
        self
    }

    /// Takes the resources away whose addresses follow `pattern`.
    pub fn without_resource_template(mut self, pattern: impl Into<String>) -> Self {
        self.templates.insert(pattern.into());
        self
    }

    /// The server with the edit made.
    fn apply(self, core: &Core) -> Result<Core, BuildError> {
        let mut offers = Catalog::clone(&core.offers);
        offers.tools.retain(|name| !self.tools.contains(name));
        offers.prompts.retain(|name| !self.prompts.contains(name));
        offers.resources.retain(|uri| !self.resources.contains(uri));
        let templates = &mut offers.templates;
        templates.retain(|pattern| !self.templates.contains(pattern));
        let put = self
            .offered
            .into_iter()
            .map(|offer| offers.put(offer, &core.environment.states));
        let mut problems: Vec<String> = put.filter_map(Result::err).collect();
        problems.extend(missing_store(&offers, core.tasks.is_some()));
        if !problems.is_empty() {
            return Err(BuildError::of_edit(problems));
        }
        Ok(Core {
            cached: Arc::new(core.profile.show(&core.info, &offers, &core.extensions)),
            metrics: Arc::new(core.metrics.of(&metric_names(
                &offers,
                &core.extensions,
                &core.profile,
            ))),
            offers: Arc::new(offers),
            ..core.clone()
        })
    }
}

impl Changes {
    /// Adds and removes what the server offers, all of `edit` or nothing, and
    /// tells those who listen which lists are others now.
    ///
    /// Running calls keep the tools they began with. Calls to a removed entry are
    /// refused, and so is the next round of a flow in it.
    ///
    /// # Errors
    ///
    /// [`BuildError`] lists every mistake that was found, as when the server
    /// was built, and that the server was not built to change: say so with
    /// [`Server::dynamic_lists`](crate::Server::dynamic_lists).
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_server::{BuildError, Cx, Edit, Server, Tool};
    ///
    /// async fn hello(_: Cx<'_>, (): ()) -> &'static str { "hello" }
    ///
    /// let service = Server::new("greeter", "1.0.0")
    ///     .tool("hello", "Says hello", hello)
    ///     .dynamic_lists()
    ///     .build()?;
    /// let tool = Tool::new("hallo", "Says hello in German", hello);
    /// service.changes().update(Edit::new().without_tool("hello").offer(tool))?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn update(&self, edit: Edit) -> Result<(), BuildError> {
        let Some(server) = self.server() else {
            let problem = "it was built without `Server::dynamic_lists`".to_owned();
            return Err(BuildError::of_edit(vec![problem]));
        };
        // A server that is gone has no lists to change.
        let server = server.upgrade().map(Arc::downcast::<ReplaceableCore>);
        let Some(Ok(server)) = server else {
            return Ok(());
        };
        server.replace(
            |core| edit.apply(core),
            |before, after| announce(self, before, after),
        )
    }
}

/// Tells those who listen which lists have changed.
fn announce(changes: &Changes, before: &Core, after: &Core) {
    let (old, new) = (&before.cached, &after.cached);
    // How a tool runs as a task is in the lists of sessions alone.
    if old.lists.tools.differs(&new.lists.tools)
        || old
            .lists_2025_11_25
            .tools
            .differs(&new.lists_2025_11_25.tools)
    {
        changes.tell(Change::Tools);
    }
    if old.lists.prompts.differs(&new.lists.prompts) {
        changes.tell(Change::Prompts);
    }
    if old.lists.resources.differs(&new.lists.resources)
        || old.lists.templates.differs(&new.lists.templates)
    {
        changes.tell(Change::Resources);
    }
}
