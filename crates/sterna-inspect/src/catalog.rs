//! The lists of the inspected server.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sterna_client::{Client, Era, Error, Pages};
use sterna_protocol::caching::Caching;
use sterna_protocol::prompt::Prompt;
use sterna_protocol::resource::{Resource, ResourceTemplate};
use sterna_protocol::tool::Tool;

/// Everything that a server offers, as far as it said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Listing<Tool>,
    pub(crate) prompts: Listing<Prompt>,
    pub(crate) resources: Listing<Resource>,
    pub(crate) templates: Listing<ResourceTemplate>,
}

/// One list.
#[derive(Clone, Debug)]
pub(crate) struct Listing<T> {
    pub(crate) items: Vec<T>,
    /// Caching hints of the whole list; `None` if the revision has none.
    pub(crate) caching: Option<Caching>,
    /// Reason why the list ends here and not at its end.
    pub(crate) cut: Option<String>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            caching: None,
            cut: None,
        }
    }
}

/// The catalog, fetched once.
#[derive(Debug, Default)]
pub(crate) struct SharedCatalog(RwLock<Option<Arc<Catalog>>>);

impl SharedCatalog {
    /// The catalog; it is fetched if it was not before.
    pub(crate) async fn get(&self, client: &Client, patience: Duration) -> Arc<Catalog> {
        let known = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(known) = known {
            return known;
        }
        let era = client.era();
        let (tools, prompts, resources, templates) = tokio::join!(
            listing(client.tools(), era, patience),
            listing(client.prompts(), era, patience),
            listing(client.resources(), era, patience),
            listing(client.resource_templates(), era, patience),
        );
        let fetched = Arc::new(Catalog {
            tools,
            prompts,
            resources,
            templates,
        });
        let mut slot = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(fetched.clone());
        fetched
    }

    /// Names of the tools, as far as they were fetched.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let tools = known.iter().flat_map(|known| &known.tools.items);
        tools.map(|tool| tool.name.clone()).collect()
    }

    /// Has the lists fetched again.
    pub(crate) fn forget(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

async fn listing<T>(mut pages: Pages<T>, era: Era, patience: Duration) -> Listing<T> {
    let mut items = Vec::new();
    let fetching = async {
        while items.len() < MOST_ITEMS {
            match pages.next().await? {
                Some(item) => items.push(item),
                None => return Ok::<_, Error>(false),
            }
        }
        Ok(true)
    };
    let fetched = tokio::time::timeout(patience, fetching).await;
    let cut = match fetched {
        Ok(Ok(false)) => None,
        Ok(Ok(true)) => Some(format!("only the first {MOST_ITEMS} are shown")),
        Ok(Err(error)) => Some(format!("the list could not be fetched: {error}")),
        Err(_) => Some(format!(
            "the server did not finish the list within {patience:?}"
        )),
    };
    let caching = pages.caching().filter(|_| era == Era::Modern).cloned();
    Listing {
        items,
        caching,
        cut,
    }
}

/// Items of one list on a page.
const MOST_ITEMS: usize = 500;
