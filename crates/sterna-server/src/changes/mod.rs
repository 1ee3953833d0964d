//! Notifications about changes of the server.

mod subscribers;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::subscription::SubscriptionFilter;

use sterna_http::Admission;
use subscribers::Subscribers;
pub(crate) use subscribers::{Change, ResourceWatcher};

use crate::sink::MessageSink;

/// Changes what the server offers, and tells those who listen. Cheap to clone,
/// and good for the whole life of the server: from
/// [`Service::changes`](crate::Service::changes), or inside a handler from
/// [`Request::changes`](crate::Request::changes).
///
/// A notification reaches every open `subscriptions/listen` stream that asked
/// for it, and every session of the older revisions that listens, on this
/// instance. Other instances are changed on their own.
#[derive(Clone, Default)]
pub struct Changes(Arc<ChangesInner>);

#[derive(Default)]
struct ChangesInner {
    subscribers: Subscribers,
    /// The server whose lists change, as `Changes::update` knows it; weak, for
    /// the server owns this.
    server: OnceLock<Weak<dyn Any + Send + Sync>>,
}

impl Changes {
    /// Tells those who listen that the resource at `uri` has changed.
    pub fn resource(&self, uri: &str) {
        self.0.subscribers.tell(Change::Resource(uri));
    }

    /// Tells those who listen that the list of prompts has changed: for a server
    /// with a [`Backend`](crate::Backend), whose lists change by themselves.
    pub fn prompts(&self) {
        self.0.subscribers.tell(Change::Prompts);
    }

    /// Tells those who listen that the list of resources has changed. See
    /// [`prompts`](Self::prompts).
    pub fn resources(&self) {
        self.0.subscribers.tell(Change::Resources);
    }

    /// Tells those who listen that the list of tools has changed. See
    /// [`prompts`](Self::prompts).
    pub fn tools(&self) {
        self.0.subscribers.tell(Change::Tools);
    }

    /// Sets the server whose lists change. A server is built once, so a second
    /// one is ignored.
    pub(crate) fn set_server(&self, server: Weak<dyn Any + Send + Sync>) {
        let _ = self.0.server.set(server);
    }

    /// Returns the server whose lists change; `None` for one that was built
    /// without dynamic lists.
    pub(crate) fn server(&self) -> Option<&Weak<dyn Any + Send + Sync>> {
        self.0.server.get()
    }

    /// Tells those who listen about `change`.
    pub(crate) fn tell(&self, change: Change<'_>) {
        self.0.subscribers.tell(change);
    }

    /// Tells the stream that the request `id` opened, until the guard is
    /// dropped.
    pub(crate) fn subscribe(
        &self,
        id: RequestId,
        filter: SubscriptionFilter,
        admission: Admission,
        sink: MessageSink,
    ) -> Subscription {
        let number = self.0.subscribers.subscribe(id, filter, admission, sink);
        self.subscription(number)
    }

    /// Tells the stream of a session, in place of the one it had, until the
    /// guard is dropped.
    pub(crate) fn attend(
        &self,
        session: Arc<dyn ResourceWatcher>,
        admission: Admission,
        sink: MessageSink,
    ) -> Subscription {
        let number = self.0.subscribers.attend(session, admission, sink);
        self.subscription(number)
    }

    fn subscription(&self, number: u64) -> Subscription {
        Subscription {
            changes: self.clone(),
            number,
        }
    }
}

/// A stream that is told of changes. Dropping it forgets the stream, with all
/// that it asked for.
#[derive(Debug)]
pub(crate) struct Subscription {
    changes: Changes,
    number: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.changes.0.subscribers.forget(self.number);
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Changes({} subscribers)", self.0.subscribers.len())
    }
}
