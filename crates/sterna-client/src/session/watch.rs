//! Resources that somebody wants to hear of.

use sterna_protocol::capabilities::ServerCapabilities;
use sterna_protocol::jsonrpc::{Request, Untagged};
use sterna_protocol::legacy::{ResourceRequestParams, Unsubscribe};
use sterna_protocol::methods::Request as _;
use sterna_protocol::result::EmptyResult;

use super::open::{Session, lock};
use crate::wire::Deaf;

impl Session {
    /// What the server said it can do.
    pub(crate) fn able(&self) -> ServerCapabilities {
        lock(&self.able).base.clone()
    }

    /// Whether it said that calls of tools can become tasks.
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
        let (wire, headers, patience) = (self.wire.clone(), self.headers(), self.patience);
        let params = ResourceRequestParams::new(uri);
        self.asides.say(async move {
            let request = Request::new(wire.next_id().into(), Unsubscribe::METHOD, params);
            let asked = wire.ask(request, headers, &Deaf, patience).await;
            if let Err(error) = asked.map(|Untagged(EmptyResult { .. })| ()) {
                tracing::debug!(%error, "the server goes on telling of a resource");
            }
        });
    }
}
