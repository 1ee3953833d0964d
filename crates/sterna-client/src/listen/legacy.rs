//! Changes of a session, filtered for one subscriber.

use std::sync::Arc;

use sterna_protocol::legacy::{ClientRequest, ResourceRequestParams};
use sterna_protocol::result::EmptyResult;
use sterna_protocol::subscription::SubscriptionFilter;
use tokio::sync::broadcast::{self, error::RecvError};

use crate::core::{Core, Protocol};
use crate::error::{Error, Fault};
use crate::notifications::{Change, Listeners};
use crate::session::Session;

/// The part of the news that was asked for.
pub(super) struct SessionStream {
    core: Arc<Core>,
    pub(super) granted: SubscriptionFilter,
    news: broadcast::Receiver<Option<Change>>,
    /// True if the session may have lost its subscriptions.
    stale: bool,
}

impl SessionStream {
    pub(super) async fn open(core: Arc<Core>, filter: SubscriptionFilter) -> Result<Self, Error> {
        let session = session(&core)?;
        // First of all, so that nothing is missed.
        let news = session.broadcast.changes();
        if !session.ensure_listening().await? {
            return Err(Fault::Unsupported(STREAMLESS.to_owned()).into());
        }
        let granted = agreed(session, filter);
        let stream = Self {
            core,
            granted,
            news,
            stale: false,
        };
        for uri in stream.watched() {
            self::session(&stream.core)?.watch(uri);
        }
        stream.subscribe().await?;
        Ok(stream)
    }

    /// The next change that was asked for. A session has no end on purpose.
    pub(super) async fn next(&mut self) -> Result<Change, Error> {
        loop {
            if self.stale {
                if !session(&self.core)?.ensure_listening().await? {
                    return Err(Fault::Closed.into());
                }
                self.subscribe().await?;
                self.stale = false;
                return Ok(Change::Reopened);
            }
            match self.news.recv().await {
                Ok(Some(Change::Reopened)) => self.stale = true,
                Ok(Some(change)) if self.wants(&change) => return Ok(change),
                Ok(Some(_)) => {}
                // A slow subscriber has missed changes.
                Err(RecvError::Lagged(_)) => return Ok(Change::Reopened),
                Ok(None) | Err(RecvError::Closed) => {
                    self.stale = true;
                    return Err(Fault::Closed.into());
                }
            }
        }
    }

    fn watched(&self) -> impl Iterator<Item = &str> {
        let uris = self.granted.resource_subscriptions.iter().flatten();
        uris.map(String::as_str)
    }

    async fn subscribe(&self) -> Result<(), Error> {
        let session = session(&self.core)?;
        for uri in self.watched() {
            let request = |_| Ok(ClientRequest::Subscribe(ResourceRequestParams::new(uri)));
            let deaf = Listeners::default();
            let timeouts = self.core.timeouts();
            let asked = self
                .core
                .send_in_session(session, "", &deaf, timeouts, request);
            let EmptyResult { .. } = asked.await?;
        }
        Ok(())
    }

    fn wants(&self, change: &Change) -> bool {
        let granted = &self.granted;
        match change {
            Change::Prompts => granted.prompts_list_changed == Some(true),
            Change::Reopened => true,
            // What changed may lie below what is watched.
            Change::Resource(uri) => self.watched().any(|watched| uri.starts_with(watched)),
            Change::Resources => granted.resources_list_changed == Some(true),
            Change::Task(_) => false,
            Change::Tools => granted.tools_list_changed == Some(true),
        }
    }
}

impl Drop for SessionStream {
    fn drop(&mut self) {
        if let Ok(session) = session(&self.core) {
            for uri in self.watched() {
                session.unwatch(uri);
            }
        }
    }
}

fn session(core: &Core) -> Result<&Session, Error> {
    match &core.protocol {
        Protocol::Legacy(session) => Ok(session),
        Protocol::Modern => Err(Fault::Closed.into()),
    }
}

/// The part of `filter` that the server supports.
fn agreed(session: &Session, filter: SubscriptionFilter) -> SubscriptionFilter {
    let able = session.able();
    let (tools, prompts) = (able.tools.as_ref(), able.prompts.as_ref());
    let resources = able.resources.as_ref();
    let both = |asked: Option<bool>, able: Option<bool>| {
        let agreed = asked == Some(true) && able == Some(true);
        agreed.then_some(true)
    };
    let mut granted = SubscriptionFilter::default();
    granted.tools_list_changed = both(
        filter.tools_list_changed,
        tools.and_then(|able| able.list_changed),
    );
    granted.prompts_list_changed = both(
        filter.prompts_list_changed,
        prompts.and_then(|able| able.list_changed),
    );
    granted.resources_list_changed = both(
        filter.resources_list_changed,
        resources.and_then(|able| able.list_changed),
    );
    if resources.and_then(|able| able.subscribe) == Some(true) {
        granted.resource_subscriptions = filter.resource_subscriptions;
    }
    granted
}

const STREAMLESS: &str = "a revision before 2026-07-28 without a stream of its own";
