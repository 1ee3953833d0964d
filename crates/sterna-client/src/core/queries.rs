//! Everything that comes in one round.

use http::HeaderMap;
use serde::de::DeserializeOwned;
use sterna_protocol::caching::Cacheable;
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::jsonrpc::Request;
use sterna_protocol::result::Complete;

use super::{Core, Spoken};
use crate::call::{Listeners, Subject};
use crate::error::Error;
use crate::listen::Change;
use crate::lists::Query;
use crate::wire::{Deaf, Patience};

impl Core {
    /// Asks for something that comes in one round.
    pub(crate) async fn query<T: DeserializeOwned>(&self, query: Query) -> Result<T, Error> {
        self.query_within(query, self.patience()).await
    }

    /// A page of a list, from the cache if it is fresh there.
    pub(crate) async fn page<T>(&self, query: Query) -> Result<T, Error>
    where
        T: Cacheable + Clone + DeserializeOwned + Send + Sync + 'static,
    {
        let key = query.key();
        if let Some(key) = &key
            && let Some(page) = self.cache.get(key)
        {
            return Ok(page);
        }
        let fetched = self.query(query).await;
        match (&fetched, key) {
            (Ok(page), Some(key)) => self.cache.put(key, page),
            (Err(error), Some(key)) if error.rpc().is_some() => self.cache.forget_pages(&key),
            _ => {}
        }
        fetched
    }

    async fn query_within<T: DeserializeOwned>(
        &self,
        query: Query,
        patience: Patience,
    ) -> Result<T, Error> {
        match &self.spoken {
            Spoken::Modern => {
                let params = query.modern(self.plain_meta())?;
                let method = params.method().as_str();
                let request = Request::new(self.wire.next_id().into(), method, params);
                let headers = HeaderMap::new();
                let Complete(result) = self.modern(request, None, headers, &Deaf, patience).await?;
                Ok(result)
            }
            Spoken::Legacy(session) => {
                let deaf = Listeners::default();
                let request = |_| query.clone().legacy();
                self.in_session(session, "", &deaf, patience, request).await
            }
        }
    }

    /// Asks what the server is.
    pub(crate) async fn discover(&self, patience: Patience) -> Result<DiscoverResult, Error> {
        self.query_within(Query::Discover, patience).await
    }

    /// Lists the tools anew until the one that is called turns up; whether it
    /// can be called in another way than before.
    pub(crate) async fn learn(&self, subject: &Subject) -> Result<bool, Error> {
        let Subject::Tool { name, .. } = subject else {
            return Ok(false);
        };
        let before = self.tools.get(name);
        // What is cached is what was wrong.
        self.cache.invalidate(&Change::Tools);
        let mut cursor = None;
        for _ in 0..self.config.max_pages {
            let page = crate::lists::tools_page(self, cursor).await?;
            if page.tools.iter().any(|tool| tool.name == *name) {
                break;
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(self.tools.get(name) != before)
    }
}
