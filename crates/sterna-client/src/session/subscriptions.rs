//! Resource subscriptions and the log level of a session.

use std::sync::Arc;

use sterna_protocol::capabilities::ServerCapabilities;
use sterna_protocol::jsonrpc::{Request, Untagged};
use sterna_protocol::legacy::{
    ResourceRequestParams, SetLevel, SetLevelRequestParams, Unsubscribe,
};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::methods::RequestMethod as _;
use sterna_protocol::result::EmptyResult;

use super::broadcast::Logger;
use super::open::{OpenSession, Session, lock};
use crate::notifications::LogSink;
use crate::wire::IgnoreAll;

impl Session {
    /// Capabilities that the server declared.
    pub(crate) fn able(&self) -> ServerCapabilities {
        lock(&self.able).base.clone()
    }

    /// Returns true if the server declared tasks for tool calls.
    pub(crate) fn runs_tasks(&self) -> bool {
        let able = lock(&self.able);
        let requests = able.tasks.as_ref().and_then(|able| able.requests.as_ref());
        let tools = requests.and_then(|requests| requests.tools.as_ref());
        tools.is_some_and(|tools| tools.call.is_some())
    }

    /// Counts one more who wants to hear of a resource.
    pub(crate) fn watch(&self, uri: &str) {
        *lock(&self.watched).entry(uri.to_owned()).or_default() += 1;
    }

    /// Counts one less; when it was the last, the server is told so.
    pub(crate) fn unwatch(&self, uri: &str) {
        let mut watched = lock(&self.watched);
        if let Some(others) = watched.get_mut(uri).filter(|count| **count > 1) {
            *others -= 1;
            return;
        }
        if watched.remove(uri).is_none() {
            return;
        }
        let (wire, headers, timeouts) = (self.wire.clone(), self.headers(), self.timeouts);
        let params = ResourceRequestParams::new(uri);
        self.background.say(async move {
            let request = Request::new(wire.next_id().into(), Unsubscribe::METHOD, params);
            let asked = wire.ask(request, headers, &IgnoreAll, timeouts).await;
            if let Err(error) = asked.map(|Untagged(EmptyResult { .. })| ()) {
                tracing::debug!(%error, "the server goes on telling of a resource");
            }
        });
    }

    /// Hands log messages from `level` up to `tell` for as long as what this
    /// returns lives.
    pub(crate) async fn log_to(
        &self,
        opened: &OpenSession,
        level: &LoggingLevel,
        tell: &LogSink,
    ) -> Arc<Logger> {
        let logger = self.broadcast.add_logger(level.clone(), tell.clone());
        let said = lock(&self.level).clone();
        let enough = said.is_some_and(|said| said.admits(level));
        if !enough && lock(&self.able).base.logging.is_some() {
            self.set_level(opened, level.clone()).await;
        }
        logger
    }

    async fn set_level(&self, opened: &OpenSession, level: LoggingLevel) {
        let params = SetLevelRequestParams::new(level.clone());
        let request = Request::new(self.wire.next_id().into(), SetLevel::METHOD, params);
        let headers = opened.headers.clone();
        let asked = self
            .wire
            .ask(request, headers, &IgnoreAll, self.timeouts)
            .await;
        match asked {
            Ok(Untagged(EmptyResult { .. })) => *lock(&self.level) = Some(level),
            // The call is worth more than what is said about it.
            Err(error) => tracing::debug!(%error, "the server does not take the log level"),
        }
    }
}
