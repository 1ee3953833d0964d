//! What is to change of the offers.

use std::collections::HashSet;
use std::sync::Arc;

use crate::core::Core;
use crate::offer::{Offer, Offers};
use crate::server::{BuildError, missing_store};

/// What is to change of a server's offers, for
/// [`Changes::update`](crate::Changes::update).
///
/// What goes away goes first, so that an edit can put something else into its
/// place. To remove what is not there is no mistake.
#[derive(Debug, Default)]
#[must_use = "an edit does nothing until it is made"]
pub struct Edit {
    offered: Vec<Offer>,
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
    pub fn offer(mut self, offer: impl Into<Offer>) -> Self {
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
    pub(super) fn apply(self, core: &Core) -> Result<Core, BuildError> {
        let mut offers = Offers::clone(&core.offers);
        offers.tools.retain(|name| !self.tools.contains(name));
        offers.prompts.retain(|name| !self.prompts.contains(name));
        offers.resources.retain(|uri| !self.resources.contains(uri));
        let templates = &mut offers.templates;
        templates.retain(|pattern| !self.templates.contains(pattern));
        let put = self
            .offered
            .into_iter()
            .map(|offer| offers.put(offer, &core.states));
        let mut problems: Vec<String> = put.filter_map(Result::err).collect();
        problems.extend(missing_store(&offers, core.tasks.is_some()));
        if !problems.is_empty() {
            return Err(BuildError::of_edit(problems));
        }
        Ok(Core {
            cached: Arc::new(core.profile.show(&core.info, &offers, &core.extensions)),
            metrics: Arc::new(core.metrics.of(&offers, &core.extensions)),
            offers: Arc::new(offers),
            ..core.clone()
        })
    }
}
