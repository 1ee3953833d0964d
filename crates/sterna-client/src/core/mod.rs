//! What all calls of one client share.

mod queries;
mod rounds;
mod sessions;
mod trace;

use std::sync::Arc;

use http::HeaderMap;
use serde::Serialize;
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::http::RequestHeaders;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::json::JsonObject;
use sterna_protocol::jsonrpc::{Answer, Request};
use sterna_protocol::legacy::TaskMetadata;
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::tasks;
use sterna_protocol::version::ProtocolVersion;

pub(crate) use self::sessions::Said;
use self::trace::Trace;
use crate::answers::Answers;
use crate::cache::Cache;
use crate::config::Config;
use crate::error::{Error, Fault};
use crate::lists::ToolBook;
use crate::session::Session;
use crate::wire::{Ears, Patience, Wire};

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
    /// What the server said about itself when the connection was made.
    pub(crate) server: DiscoverResult,
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
    /// That the request may become a task, for servers that want to be told.
    pub(crate) task: Option<TaskMetadata>,
}

impl Core {
    pub(crate) fn place(&self) -> &str {
        self.wire.transport.place()
    }

    /// Refuses what belongs to another server.
    pub(crate) fn check_place(&self, expected: &str) -> Result<(), Error> {
        let found = self.place();
        match expected == found {
            true => Ok(()),
            false => Err(Fault::OtherServer {
                expected: expected.to_owned(),
                found: found.to_owned(),
            }
            .into()),
        }
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

    /// The `_meta` of a request about tasks of the extension.
    pub(crate) fn task_meta(&self) -> RequestMeta {
        let mut meta = self.plain_meta();
        if !meta.client_capabilities.has_extension(tasks::EXTENSION) {
            meta.client_capabilities = meta.client_capabilities.with_extension(&ExtensionId::TASKS);
        }
        meta
    }

    /// The `_meta` of a request (BASE-C7, BASE-C8).
    fn meta(&self, meta: Meta) -> RequestMeta {
        let mut full = RequestMeta::new(ProtocolVersion::LATEST, meta.capabilities);
        full.client_info.clone_from(&self.info);
        full.log_level = meta.log_level;
        full.extra = meta.extra;
        let trace = Trace::take(&mut full.extra);
        full.traceparent = trace.parent;
        full.tracestate = trace.state;
        full.baggage = trace.baggage;
        full
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
}
