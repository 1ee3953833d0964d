//! State that all calls of one client share.

mod call_handler;
mod meta;
mod open_calls;
mod query;
mod session_requests;
mod tools;

use std::sync::Arc;

use futures::future::try_join_all;
use http::HeaderMap;
use serde::Serialize;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::http::RequestHeaders;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::input::{InputRequest, InputRequests, InputResponse};
use sterna_protocol::jsonrpc::{Answer, Request};
use sterna_protocol::version::ProtocolVersion;
use url::Url;

pub(crate) use self::call_handler::CallHandler;
pub(crate) use self::meta::{RequestOptions, TraceContext};
pub(crate) use self::open_calls::{
    AnsweredQuestions, DetachedCall, Pausing, SessionCall, SessionPause, SessionRound,
};
pub(crate) use self::query::Query;
pub(crate) use self::session_requests::SessionRequest;
pub(crate) use self::tools::tools_page;
use crate::answers::{Answers, Question};
use crate::cache::{Cache, ToolCache};
use crate::config::Config;
use crate::error::{Error, Fault};
use crate::session::Session;
use crate::wire::{MessageHandler, Timeouts, Wire};

/// A connection, its settings, and what was learned about the server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) wire: Arc<Wire>,
    pub(crate) config: Config,
    pub(crate) answers: Answers,
    pub(crate) info: Option<Implementation>,
    pub(crate) extensions: ClientCapabilities,
    /// Capabilities of a session, in place of those of the handlers.
    pub(crate) session_capabilities: Option<ClientCapabilities>,
    pub(crate) tools: ToolCache,
    pub(crate) cache: Cache,
    pub(crate) protocol: Protocol,
    /// Description that the server sent when the connection was made.
    pub(crate) server: DiscoverResult,
}

/// Protocol of the connection: sessions of earlier revisions, or 2026-07-28.
#[derive(Debug)]
pub(crate) enum Protocol {
    Legacy(Box<Session>),
    Modern,
}

impl Core {
    pub(crate) fn endpoint(&self) -> &str {
        self.wire.transport.endpoint()
    }

    /// Refuses a paused call or a task of another server.
    pub(crate) fn check_endpoint(&self, expected: &str) -> Result<(), Error> {
        let found = self.endpoint();
        let is_same_url = || {
            let url = Url::parse(expected).ok();
            url.is_some() && url == Url::parse(found).ok()
        };
        match expected == found || is_same_url() {
            true => Ok(()),
            false => Err(Fault::OtherServer {
                expected: expected.to_owned(),
                found: found.to_owned(),
            }
            .into()),
        }
    }

    /// Capabilities that the `initialize` of a session declares.
    pub(crate) fn session_capabilities(&self) -> ClientCapabilities {
        let set = self.session_capabilities.clone();
        set.unwrap_or_else(|| self.answers.capabilities())
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        Timeouts {
            idle: self.config.timeout,
            total: self.config.deadline,
        }
    }

    /// Sends a request of 2026-07-28 with its headers.
    pub(crate) async fn modern<A: for<'de> Answer<'de>, P: Serialize>(
        &self,
        request: Request<'_, P>,
        name: Option<&str>,
        mut headers: HeaderMap,
        handler: &dyn MessageHandler,
        timeouts: Timeouts,
    ) -> Result<A, Error> {
        self.standard_headers(&request.method, name, &mut headers)?;
        self.wire.ask(request, headers, handler, timeouts).await
    }

    /// HTTP-C3, HTTP-C6: the headers that repeat parts of every request.
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

    /// Has the handlers answer all questions of a round at once. The first
    /// failure drops the others.
    pub(crate) async fn answer(
        &self,
        about: &str,
        requests: InputRequests,
    ) -> Result<Vec<(String, InputResponse)>, Error> {
        let server: Arc<str> = self.endpoint().into();
        let about: Arc<str> = about.into();
        let ask = |(key, request): (String, InputRequest)| {
            let question = Question::new(server.clone(), about.clone(), key.clone(), request);
            async move {
                let response = self.answers.answer(question).await?;
                Ok::<_, Error>((key, response))
            }
        };
        try_join_all(requests.into_iter().map(ask)).await
    }
}
