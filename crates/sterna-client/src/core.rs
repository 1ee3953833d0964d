//! What all calls of one client share.

use http::HeaderMap;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::http::RequestHeaders;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::input::{InputResponses, RequestState};
use sterna_protocol::json::JsonObject;
use sterna_protocol::jsonrpc::{Answer, Request};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::methods::ClientRequest;
use sterna_protocol::result::{Complete, Outcome};
use sterna_protocol::tasks::CreateTaskResult;
use sterna_protocol::version::ProtocolVersion;

use crate::answers::Answers;
use crate::call::{Hearing, Listeners, Reply, Subject};
use crate::config::Config;
use crate::error::{Error, Fault};
use crate::lists::{Query, ToolBook};
use crate::wire::{Deaf, Ears, Patience, Wire};

/// A connection, its settings, and what was learned about the server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) wire: Wire,
    pub(crate) config: Config,
    pub(crate) answers: Answers,
    pub(crate) info: Option<Implementation>,
    pub(crate) extensions: ClientCapabilities,
    pub(crate) tools: ToolBook,
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
        capabilities
            .extensions
            .clone_from(&self.extensions.extensions);
        capabilities
            .experimental
            .clone_from(&self.extensions.experimental);
        capabilities
    }

    pub(crate) fn patience(&self) -> Patience {
        Patience {
            silence: self.config.timeout,
            total: self.config.deadline,
        }
    }

    /// The `_meta` of a request (BASE-C7, BASE-C8).
    pub(crate) fn meta(&self, meta: Meta) -> RequestMeta {
        let mut full = RequestMeta::new(ProtocolVersion::LATEST, meta.capabilities);
        full.client_info.clone_from(&self.info);
        full.log_level = meta.log_level;
        full.extra = meta.extra;
        for (name, field) in [
            ("traceparent", &mut full.traceparent),
            ("tracestate", &mut full.tracestate),
            ("baggage", &mut full.baggage),
        ] {
            *field = full.extra.remove(name).and_then(|text| text.decode().ok());
        }
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
        };
        self.modern(id, request, headers, &hearing, patience).await
    }

    /// Asks for something that comes in one round.
    pub(crate) async fn query<T>(&self, query: Query) -> Result<T, Error>
    where
        Complete<T>: for<'de> Answer<'de>,
    {
        let meta = self.meta(Meta {
            capabilities: self.capabilities(),
            ..Meta::default()
        });
        let request = query.modern(meta);
        let id = self.wire.next_id();
        let answer = self.modern(id, request, HeaderMap::new(), &Deaf, self.patience());
        let Complete(result) = answer.await?;
        Ok(result)
    }

    /// Asks what the server is.
    pub(crate) async fn discover(&self) -> Result<DiscoverResult, Error> {
        self.query(Query::Discover).await
    }

    async fn modern<A: for<'de> Answer<'de>>(
        &self,
        id: i64,
        request: ClientRequest,
        mut headers: HeaderMap,
        ears: &dyn Ears,
        patience: Patience,
    ) -> Result<A, Error> {
        let method = request.method().as_str();
        if self.wire.transport.has_headers() {
            let name = mirrored_name(&request);
            let standard = RequestHeaders::new(ProtocolVersion::LATEST.as_str(), method, name);
            standard
                .write(&mut headers)
                .map_err(|_| Fault::Broken("a method that no header can hold"))?;
        }
        let request = Request::new(id.into(), method, request);
        self.wire.ask(request, headers, ears, patience).await
    }

    /// Lists the tools anew until the one that is called turns up; whether it
    /// can be called in another way than before.
    pub(crate) async fn learn(self: &Core, subject: &Subject) -> Result<bool, Error> {
        let Subject::Tool { name, .. } = subject else {
            return Ok(false);
        };
        let before = self.tools.get(name);
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

/// HTTP-C6: what `Mcp-Name` repeats.
fn mirrored_name(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallTool(params) => Some(&params.name),
        ClientRequest::GetPrompt(params) => Some(&params.name),
        ClientRequest::ReadResource(params) => Some(&params.uri),
        _ => None,
    }
}
