//! Lists of a server, page by page.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use sterna_protocol::caching::{CacheScope, Caching};

use crate::core::{Core, Query};
use crate::error::{Error, Fault};

/// A list of a server, fetched as it is read.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: sterna_client::Client) -> Result<(), sterna_client::Error> {
/// let mut tools = client.tools();
/// while let Some(tool) = tools.next().await? {
///     println!("{}", tool.name);
/// }
/// let all = client.tools().all().await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a list is fetched by reading it"]
pub struct Pages<T> {
    core: Arc<Core>,
    fetch: Fetch<T>,
    ready: VecDeque<T>,
    cursor: Cursor,
    pages: usize,
    caching: Option<Caching>,
}

enum Cursor {
    Start,
    At(String),
    End,
}

/// Fetches the page at a cursor.
pub(crate) type Fetch<T> =
    for<'a> fn(&'a Core, Option<String>) -> BoxFuture<'a, Result<Page<T>, Error>>;

/// Some items, and where the next page begins.
pub(crate) struct Page<T> {
    pub(crate) caching: Caching,
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}

impl<T> Pages<T> {
    pub(crate) fn new(core: Arc<Core>, fetch: Fetch<T>) -> Self {
        Self {
            core,
            fetch,
            ready: VecDeque::new(),
            cursor: Cursor::Start,
            pages: 0,
            caching: None,
        }
    }

    /// PROMPT-B1: a server is not asked for what it does not have.
    pub(crate) fn if_offered(mut self, first: &Query) -> Self {
        if !first.is_offered(&self.core.server.capabilities) {
            self.cursor = Cursor::End;
        }
        self
    }

    /// The next item; `None` at the end of the list.
    ///
    /// # Errors
    ///
    /// A page could not be fetched; calling again tries it again.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing that was fetched is lost.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            // PAGE-C3, PAGE-C4: every cursor, even an empty one, goes back as it came.
            let cursor = match &self.cursor {
                Cursor::Start => None,
                Cursor::At(cursor) => Some(cursor.clone()),
                Cursor::End => return Ok(None),
            };
            if self.pages >= self.core.config.max_pages {
                return Err(Fault::EndlessList { pages: self.pages }.into());
            }
            let page = (self.fetch)(&self.core, cursor).await?;
            self.pages += 1;
            self.caching = Some(match self.caching.take() {
                None => page.caching,
                Some(before) => narrower(before, page.caching),
            });
            self.ready = page.items.into();
            self.cursor = page.next.map_or(Cursor::End, Cursor::At);
        }
    }

    /// Caching hints of the pages that were fetched so far: the smallest lifetime
    /// and the narrower scope. `None` before the first page.
    pub fn caching(&self) -> Option<&Caching> {
        self.caching.as_ref()
    }

    /// All items that are left.
    ///
    /// # Errors
    ///
    /// As of [`next`](Self::next).
    pub async fn all(mut self) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await? {
            all.push(item);
        }
        Ok(all)
    }
}

/// The hints of both pages together.
fn narrower(one: Caching, other: Caching) -> Caching {
    let scope = match one.scope {
        CacheScope::Public => other.scope,
        narrow => narrow,
    };
    Caching::new(one.ttl_ms.min(other.ttl_ms), scope)
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}
