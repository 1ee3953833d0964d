//! Log messages of a session, which has one level for all.

use std::sync::Arc;

use sterna_protocol::jsonrpc::{Request, Untagged};
use sterna_protocol::legacy::{SetLevel, SetLevelRequestParams};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::methods::Request as _;
use sterna_protocol::result::EmptyResult;

use super::news::Logger;
use super::open::{Opened, Session, lock};
use crate::call::LogSink;
use crate::wire::Deaf;

impl Session {
    /// Hands log messages from `level` up to `tell` for as long as what this
    /// returns lives.
    pub(crate) async fn log_to(
        &self,
        opened: &Opened,
        level: &LoggingLevel,
        tell: &LogSink,
    ) -> Arc<Logger> {
        let logger = self.news.log_to(level.clone(), tell.clone());
        let said = lock(&self.level).clone();
        let enough = said.is_some_and(|said| said.admits(level));
        if !enough && lock(&self.able).base.logging.is_some() {
            self.set_level(opened, level.clone()).await;
        }
        logger
    }

    async fn set_level(&self, opened: &Opened, level: LoggingLevel) {
        let params = SetLevelRequestParams::new(level.clone());
        let request = Request::new(self.wire.next_id().into(), SetLevel::METHOD, params);
        let headers = opened.headers.clone();
        let asked = self.wire.ask(request, headers, &Deaf, self.patience).await;
        match asked {
            Ok(Untagged(EmptyResult { .. })) => *lock(&self.level) = Some(level),
            // The call is worth more than what is said about it.
            Err(error) => tracing::debug!(%error, "the server does not take the log level"),
        }
    }
}
