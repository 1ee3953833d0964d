//! What all calls of one client share.

use std::sync::Arc;

use http::HeaderMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_protocol::caching::Cacheable;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::http::RequestHeaders;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::input::{
    InputRequest, InputRequests, InputRequired, InputResponses, RequestState,
};
use sterna_protocol::json::JsonObject;
use sterna_protocol::jsonrpc::{Answer, Request, Untagged};
use sterna_protocol::legacy;
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::result::{Complete, Outcome};
use sterna_protocol::tasks::CreateTaskResult;
use sterna_protocol::version::ProtocolVersion;

use crate::answers::Answers;
use crate::cache::Cache;
use crate::call::{Hearing, Listeners, Reply, Subject};
use crate::config::Config;
use crate::error::{Error, Fault};
use crate::listen::Change;
use crate::lists::{Query, ToolBook};
use crate::session::Session;
use crate::wire::{Deaf, Ears, Patience, Wire};

/// A connection, its settings, and what was learned about the server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) wire: Arc<Wire>,
    pub(crate) config: Config,
    pub(crate) answers: Answers,
    pub(crate) info: Option<Implementation>,
    pub(crate) extensions: ClientCapabilities,
    pub(crate) tools: ToolBook,
    pub(crate) cache: Cache,
    pub(crate) spoken: Spoken,
}

/// How the server is spoken to.
#[derive(Debug)]
pub(crate) enum Spoken {
    Legacy(Box<Session>),
    Modern,
}

/// What a request says about itself, beyond what all of them say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) extra: JsonObject,
    pub(crate) log_level: Option<LoggingLevel>,
}

impl Core {
    pub(crate) fn place(&self) -> &str {
        self.wire.transport.place()
    }

    /// What is declared where a call does not say otherwise.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = self.answers.capabilities();
        let ClientCapabilities {
            extensions,
            experimental,
            ..
        } = &self.extensions;
        capabilities.extensions.clone_from(extensions);
        capabilities.experimental.clone_from(experimental);
        capabilities
    }

    pub(crate) fn patience(&self) -> Patience {
        Patience {
            silence: self.config.timeout,
            total: self.config.deadline,
        }
    }

    /// The `_meta` of a request that has nothing special to say.
    pub(crate) fn plain_meta(&self) -> RequestMeta {
        self.meta(Meta {
            capabilities: self.capabilities(),
            ..Meta::default()
        })
    }

    /// The `_meta` of a request (BASE-C7, BASE-C8).
    fn meta(&self, meta: Meta) -> RequestMeta {
        let mut full = RequestMeta::new(ProtocolVersion::LATEST, meta.capabilities);
        full.client_info.clone_from(&self.info);
        full.log_level = meta.log_level;
        full.extra = meta.extra;
        let mut take = |name| full.extra.remove(name).and_then(|text| text.decode().ok());
        let trace = (take("traceparent"), take("tracestate"), take("baggage"));
        (full.traceparent, full.tracestate, full.baggage) = trace;
        full
    }

    /// Sends one round of a call.
    pub(crate) async fn call<T: Reply>(
        &self,
        subject: &Subject,
        meta: Meta,
        (responses, state): (Option<InputResponses>, Option<RequestState>),
        listeners: &Listeners,
        patience: Patience,
    ) -> Result<Outcome<T, CreateTaskResult>, Error> {
        let session = match &self.spoken {
            Spoken::Legacy(session) => session,
            Spoken::Modern => {
                let id = self.wire.next_id();
                let mut meta = self.meta(meta);
                // PROG-C1: no other request has this id.
                meta.progress_token = listeners.progress.as_ref().map(|_| id.into());
                let request = subject.modern(meta, responses, state);
                let mut headers = HeaderMap::new();
                if let Subject::Tool { name, arguments } = subject {
                    self.tools.mirror(name, arguments.as_ref(), &mut headers)?;
                }
                let hearing = Hearing {
                    listeners,
                    token: id.into(),
                    servant: None,
                };
                let name = Some(subject.name());
                let request = Request::new(id.into(), subject.method(), request);
                return self
                    .modern(request, name, headers, &hearing, patience)
                    .await;
            }
        };
        let request = |id: i64| {
            let mut said = legacy::RequestMeta::default();
            said.extra.clone_from(&meta.extra);
            said.progress_token = listeners.progress.as_ref().map(|_| id.into());
            let silent = said == legacy::RequestMeta::default();
            Ok(subject.legacy((!silent).then_some(said)))
        };
        let about = subject.name();
        let asked = self.in_session(session, about, listeners, patience, request);
        match asked.await {
            Ok(result) => Ok(Outcome::Complete(result)),
            Err(error) => visits(error).map(Outcome::InputRequired),
        }
    }

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
                let params = query.modern(self.plain_meta());
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

    /// Sends a request of 2026-07-28 with its headers.
    pub(crate) async fn modern<A: for<'de> Answer<'de>, P: Serialize>(
        &self,
        request: Request<'_, P>,
        name: Option<&str>,
        mut headers: HeaderMap,
        ears: &dyn Ears,
        patience: Patience,
    ) -> Result<A, Error> {
        self.standard_headers(&request.method, name, &mut headers)?;
        self.wire.ask(request, headers, ears, patience).await
    }

    /// HTTP-C3, HTTP-C6: what HTTP repeats of every request.
    pub(crate) fn standard_headers(
        &self,
        method: &str,
        name: Option<&str>,
        headers: &mut HeaderMap,
    ) -> Result<(), Error> {
        if self.wire.transport.has_headers() {
            let standard = RequestHeaders::new(ProtocolVersion::LATEST.as_str(), method, name);
            let written = standard.write(headers);
            written.map_err(|_| Fault::Broken("a method that no header can hold"))?;
        }
        Ok(())
    }

    /// Asks in a session, once more if the server forgot it.
    async fn in_session<T: DeserializeOwned>(
        &self,
        session: &Session,
        about: &str,
        listeners: &Listeners,
        patience: Patience,
        request: impl Fn(i64) -> Result<legacy::ClientRequest, Error>,
    ) -> Result<T, Error> {
        let mut opened = session.current().await?;
        let mut renewed = false;
        loop {
            let id = self.wire.next_id();
            let params = request(id)?;
            let method = params.method().as_str();
            let headers = opened.headers.clone();
            let hearing = Hearing {
                listeners,
                token: id.into(),
                servant: Some(session.servant(about, headers.clone())),
            };
            let request = Request::new(id.into(), method, params);
            match self.wire.ask(request, headers, &hearing, patience).await {
                Ok(Untagged(result)) => return Ok(result),
                // The server knew nothing of the request, so it has done nothing.
                Err(error) if !renewed && opened.has_id() && is_not_found(&error) => {
                    renewed = true;
                    opened = session.renew(&opened).await?;
                }
                Err(error) => return Err(error),
            }
        }
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

fn is_not_found(error: &Error) -> bool {
    matches!(
        error.fault(),
        Fault::Status { status: 404, .. }
            | Fault::Refused {
                status: Some(404),
                ..
            }
    )
}

/// A legacy server that wants the user to visit a URL first: a question like
/// any other, after which the call is made again.
fn visits(error: Error) -> Result<InputRequired, Error> {
    let found = error.rpc().map(legacy::UrlElicitationRequired::find);
    let Some(Ok(Some(required))) = found else {
        return Err(error);
    };
    let questions: InputRequests = required
        .elicitations
        .into_iter()
        .map(|visit| (visit.elicitation_id, InputRequest::elicit(visit.url)))
        .collect();
    InputRequired::new(questions, None).map_err(|_| error)
}
