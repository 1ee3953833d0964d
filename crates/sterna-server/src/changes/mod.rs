//! Changes of the server, on their way to those who subscribed.

mod edit;
mod subscribers;

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::subscription::SubscriptionFilter;

pub use edit::Edit;
use sterna_http::Admission;
use subscribers::{Change, Subscribers};

use crate::core::Core;
use crate::current::ReplaceableCore;
use crate::server::BuildError;
use crate::sessions::SessionState;
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
    /// The server, if it changes; weak, for it owns this.
    changing: OnceLock<Weak<ReplaceableCore>>,
}

impl Changes {
    /// Adds and removes what the server offers, all of `edit` or nothing, and
    /// tells those who listen which lists are others now.
    ///
    /// What is running goes on with what it began with. A call to what has been
    /// removed is refused, and so is the next round of a flow in it.
    ///
    /// # Errors
    ///
    /// [`BuildError`] lists every mistake that was found, as when the server
    /// was built, and that the server was not built to change: say so with
    /// [`Server::dynamic_lists`](crate::Server::dynamic_lists).
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_server::{BuildError, Cx, Edit, Server, Tool};
    ///
    /// async fn hello(_: Cx<'_>, (): ()) -> &'static str { "hello" }
    ///
    /// let service = Server::new("greeter", "1.0.0")
    ///     .tool("hello", "Says hello", hello)
    ///     .dynamic_lists()
    ///     .build()?;
    /// let tool = Tool::new("hallo", "Says hello in German", hello);
    /// service.changes().update(Edit::new().without_tool("hello").offer(tool))?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn update(&self, edit: Edit) -> Result<(), BuildError> {
        let Some(changing) = self.0.changing.get() else {
            let problem = "it was built without `Server::dynamic_lists`".to_owned();
            return Err(BuildError::of_edit(vec![problem]));
        };
        // Of a server that is gone nobody sees what it would offer.
        changing.upgrade().map_or(Ok(()), |changing| {
            changing.replace(
                |core| edit.apply(core),
                |before, after| self.announce(before, after),
            )
        })
    }

    /// Tells those who listen that the resource at `uri` has changed.
    pub fn resource(&self, uri: &str) {
        self.0.subscribers.tell(Change::Resource(uri));
    }

    /// Tells which lists are not what they were.
    fn announce(&self, before: &Core, after: &Core) {
        let (old, new) = (&before.cached, &after.cached);
        // How a tool runs as a task is in the lists of sessions alone.
        if old.lists.tools.differs(&new.lists.tools)
            || old
                .lists_2025_11_25
                .tools
                .differs(&new.lists_2025_11_25.tools)
        {
            self.0.subscribers.tell(Change::Tools);
        }
        if old.lists.prompts.differs(&new.lists.prompts) {
            self.0.subscribers.tell(Change::Prompts);
        }
        if old.lists.resources.differs(&new.lists.resources)
            || old.lists.templates.differs(&new.lists.templates)
        {
            self.0.subscribers.tell(Change::Resources);
        }
    }

    /// Says which server it is that changes.
    pub(crate) fn of(&self, changing: &Arc<ReplaceableCore>) {
        // Whoever builds a server says so once.
        let _ = self.0.changing.set(Arc::downgrade(changing));
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
        session: Arc<SessionState>,
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
