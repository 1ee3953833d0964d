//! Requests that are answered in one round.

use http::HeaderMap;
use serde::de::DeserializeOwned;
use sterna_protocol::caching::Cacheable;
use sterna_protocol::capabilities::ServerCapabilities;
use sterna_protocol::completion::{
    CompleteRequestParams, CompletionArgument, CompletionContext, CompletionReference,
};
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::jsonrpc::Request;
use sterna_protocol::legacy;
use sterna_protocol::meta::{RequestMeta, RequestParams};
use sterna_protocol::methods::ClientRequest;
use sterna_protocol::pagination::PaginatedRequestParams;
use sterna_protocol::result::Complete;

use super::{Core, Protocol};
use crate::cache::Key;
use crate::error::{Error, Fault};
use crate::notifications::Listeners;
use crate::wire::{IgnoreAll, Timeouts};

impl Core {
    /// Asks for something that comes in one round.
    pub(crate) async fn query<T: DeserializeOwned>(&self, query: Query) -> Result<T, Error> {
        self.query_within(query, self.timeouts()).await
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
        timeouts: Timeouts,
    ) -> Result<T, Error> {
        match &self.protocol {
            Protocol::Modern => {
                let params = query.modern(self.plain_meta())?;
                let method = params.method().as_str();
                let request = Request::new(self.wire.next_id().into(), method, params);
                let headers = HeaderMap::new();
                let Complete(result) = self
                    .modern(request, None, headers, &IgnoreAll, timeouts)
                    .await?;
                Ok(result)
            }
            Protocol::Legacy(session) => {
                let deaf = Listeners::default();
                let request = |_| query.clone().legacy();
                self.send_in_session(session, "", &deaf, timeouts, request)
                    .await
            }
        }
    }

    /// Sends `server/discover`.
    pub(crate) async fn discover(&self, timeouts: Timeouts) -> Result<DiscoverResult, Error> {
        self.query_within(Query::Discover, timeouts).await
    }
}

/// A question that is answered in one round.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    Complete {
        reference: CompletionReference,
        argument: CompletionArgument,
        context: Option<CompletionContext>,
    },
    Discover,
    ListPrompts(Option<String>),
    ListResources(Option<String>),
    ListTasks(Option<String>),
    ListTemplates(Option<String>),
    ListTools(Option<String>),
}

impl Query {
    /// Under which its result may be kept, if at all.
    pub(crate) fn key(&self) -> Option<Key> {
        match self.clone() {
            Self::Complete { .. } | Self::Discover | Self::ListTasks(_) => None,
            Self::ListPrompts(cursor) => Some(Key::Prompts(cursor)),
            Self::ListResources(cursor) => Some(Key::Resources(cursor)),
            Self::ListTemplates(cursor) => Some(Key::Templates(cursor)),
            Self::ListTools(cursor) => Some(Key::Tools(cursor)),
        }
    }

    /// Returns true unless `server` declared that it lacks this.
    pub(crate) fn is_offered(&self, server: &ServerCapabilities) -> bool {
        match self {
            Self::Complete { .. } | Self::Discover | Self::ListTasks(_) => true,
            Self::ListPrompts(_) => server.prompts.is_some(),
            Self::ListResources(_) | Self::ListTemplates(_) => server.resources.is_some(),
            Self::ListTools(_) => server.tools.is_some(),
        }
    }

    /// The request of 2026-07-28.
    ///
    /// # Errors
    ///
    /// That revision has no such request.
    pub(crate) fn modern(self, meta: RequestMeta) -> Result<ClientRequest, Error> {
        let page = |meta, cursor| {
            let mut params = PaginatedRequestParams::new(meta);
            params.cursor = cursor;
            params
        };
        Ok(match self {
            Self::Complete {
                reference,
                argument,
                context,
            } => {
                let mut params = CompleteRequestParams::new(meta, reference, argument);
                params.context = context;
                ClientRequest::CompleteArgument(params)
            }
            Self::Discover => ClientRequest::Discover(RequestParams::new(meta)),
            Self::ListPrompts(cursor) => ClientRequest::ListPrompts(page(meta, cursor)),
            Self::ListResources(cursor) => ClientRequest::ListResources(page(meta, cursor)),
            Self::ListTasks(_) => return Err(Fault::NoTaskList.into()),
            Self::ListTemplates(cursor) => ClientRequest::ListResourceTemplates(page(meta, cursor)),
            Self::ListTools(cursor) => ClientRequest::ListTools(page(meta, cursor)),
        })
    }

    /// The request of an earlier revision.
    ///
    /// # Errors
    ///
    /// The earlier revisions have no such request.
    pub(crate) fn legacy(self) -> Result<legacy::ClientRequest, Error> {
        let page = |cursor: Option<String>| {
            cursor.map(|cursor| {
                let mut params = legacy::PaginatedRequestParams::default();
                params.cursor = Some(cursor);
                params
            })
        };
        Ok(match self {
            Self::Complete {
                reference,
                argument,
                context,
            } => {
                let mut params = legacy::CompleteRequestParams::new(reference, argument);
                params.context = context;
                legacy::ClientRequest::CompleteArgument(params)
            }
            Self::Discover => return Err(Fault::Unsupported(OLDER.to_owned()).into()),
            Self::ListPrompts(cursor) => legacy::ClientRequest::ListPrompts(page(cursor)),
            Self::ListResources(cursor) => legacy::ClientRequest::ListResources(page(cursor)),
            Self::ListTasks(cursor) => legacy::ClientRequest::ListTasks(page(cursor)),
            Self::ListTemplates(cursor) => {
                legacy::ClientRequest::ListResourceTemplates(page(cursor))
            }
            Self::ListTools(cursor) => legacy::ClientRequest::ListTools(page(cursor)),
        })
    }
}

const OLDER: &str = "a revision before 2026-07-28";
