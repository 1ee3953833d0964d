//! Lists of a server, as one session sees them.

use std::time::Duration;

use sterna_client::{Client, Error};
use sterna_protocol::caching::{CacheScope, Caching};
use sterna_protocol::prompt::Prompt;
use sterna_protocol::resource::{Resource, ResourceTemplate};
use sterna_protocol::tool::Tool;
use tokio::time::Instant;

/// Everything that a server offers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerLists {
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    /// Hints of all lists together.
    pub(crate) caching: Caching,
}

impl ServerLists {
    /// Fetches all lists.
    pub(super) async fn fetch(client: &Client) -> Result<Self, Error> {
        let mut caching: Option<Caching> = None;
        let mut note = |hints: Option<&Caching>| {
            let Some(hints) = hints else { return };
            let Some(before) = &caching else {
                caching = Some(hints.clone());
                return;
            };
            let scope = match before.scope {
                CacheScope::Public => hints.scope.clone(),
                _ => CacheScope::Private,
            };
            caching = Some(Caching::new(before.ttl_ms.min(hints.ttl_ms), scope));
        };
        let (mut tools, mut prompts) = (Vec::new(), Vec::new());
        let (mut resources, mut templates) = (Vec::new(), Vec::new());
        let mut pages = client.tools();
        while let Some(tool) = pages.next().await? {
            tools.push(tool);
        }
        note(pages.caching());
        let mut pages = client.prompts();
        while let Some(prompt) = pages.next().await? {
            prompts.push(prompt);
        }
        note(pages.caching());
        let mut pages = client.resources();
        while let Some(resource) = pages.next().await? {
            resources.push(resource);
        }
        note(pages.caching());
        let mut pages = client.resource_templates();
        loop {
            match pages.next().await {
                Ok(Some(template)) => templates.push(template),
                Ok(None) => break,
                // Many servers declare resources and have no such method.
                Err(error) if error.rpc().is_some() => break,
                Err(error) => return Err(error),
            }
        }
        note(pages.caching());
        Ok(Self {
            tools,
            prompts,
            resources,
            templates,
            caching: caching.unwrap_or(Caching::NONE),
        })
    }
}

/// Lists that were fetched, and when.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    pub(super) lists: std::sync::Arc<ServerLists>,
    pub(super) at: Instant,
}

impl Fetched {
    /// Returns `true` if they are as fresh as a list should be: within the time
    /// that the server said, or a moment old.
    pub(super) fn is_fresh(&self, now: Instant) -> bool {
        let said = Duration::from_millis(self.lists.caching.ttl_ms);
        now.duration_since(self.at) < said.clamp(SHORTEST, LONGEST)
    }

    /// Returns `true` if a call may go by them while newer ones are fetched.
    pub(super) fn serves_calls(&self, now: Instant) -> bool {
        now.duration_since(self.at) < LONGEST
    }
}

/// Servers that give their lists no lifetime are not asked by each of many
/// clients that list at once.
const SHORTEST: Duration = Duration::from_secs(2);

/// Lists are fetched again after this, however long a server says they are good.
const LONGEST: Duration = Duration::from_secs(60);
