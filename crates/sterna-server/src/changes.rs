//! Changes of the server, on their way to those who subscribed.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use sterna_protocol::jsonrpc::{Notification, RequestId};
use sterna_protocol::meta::{NotificationMeta, NotificationParams};
use sterna_protocol::resource::ResourceUpdatedNotificationParams;
use sterna_protocol::sse::Frame;
use sterna_protocol::subscription::SubscriptionFilter;

use crate::edge::{Inbox, Outbox, outbox};
use crate::legacy::Live;

/// Tells subscribers what has changed. Cheap to clone, and good for the whole
/// life of the server: from [`Service::changes`](crate::Service::changes), or
/// inside a handler from [`Request::changes`](crate::Request::changes).
///
/// Each notification reaches every open `subscriptions/listen` stream that
/// asked for it, and every session of the older revisions that listens, on this
/// instance.
#[derive(Clone, Default)]
pub struct Changes(Arc<Mutex<Vec<Subscriber>>>);

struct Subscriber {
    audience: Audience,
    outbox: Outbox,
}

/// Who listens, and to what.
enum Audience {
    /// A session of the older revisions, which may change its mind.
    Session(Arc<Live>),
    /// The stream that a request opened.
    Stream(RequestId, SubscriptionFilter),
}

/// What has changed.
#[derive(Clone, Copy)]
enum Change<'a> {
    Prompts,
    Resource(&'a str),
    Resources,
    Tools,
}

impl Changes {
    /// The list of tools has changed.
    pub fn tools(&self) {
        self.tell(Change::Tools);
    }

    /// The list of prompts has changed.
    pub fn prompts(&self) {
        self.tell(Change::Prompts);
    }

    /// The list of resources has changed.
    pub fn resources(&self) {
        self.tell(Change::Resources);
    }

    /// The resource at `uri` has changed.
    pub fn resource(&self, uri: &str) {
        self.tell(Change::Resource(uri));
    }

    /// Tells those who want to know (SUB-S1).
    fn tell(&self, change: Change<'_>) {
        self.lock().retain(|subscriber| {
            if subscriber.audience.wants(change) {
                let event = change.event(subscriber.audience.id());
                if subscriber.outbox.push(event.into()).is_err() {
                    // Whoever lags this far behind is told so by the end of the stream, and
                    // sees what it missed by listing anew.
                    subscriber.outbox.finish();
                }
            }
            !subscriber.outbox.is_closed()
        });
    }

    /// Opens a stream for the request `id`.
    pub(crate) fn subscribe(&self, id: RequestId, filter: SubscriptionFilter) -> Inbox {
        let (outbox, inbox) = outbox(BUFFER);
        self.add(Audience::Stream(id, filter), outbox);
        inbox
    }

    /// Opens the stream of a session, in place of the one it had.
    pub(crate) fn attend(&self, session: Arc<Live>) -> Inbox {
        let (outbox, inbox) = outbox(BUFFER);
        session.listen(outbox.clone());
        self.add(Audience::Session(session), outbox);
        inbox
    }

    fn add(&self, audience: Audience, outbox: Outbox) {
        let mut subscribers = self.lock();
        subscribers.retain(|subscriber| !subscriber.outbox.is_closed());
        subscribers.push(Subscriber { audience, outbox });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Audience {
    fn wants(&self, change: Change<'_>) -> bool {
        match self {
            Self::Session(session) => match change {
                Change::Resource(uri) => session.watches(uri),
                _ => true,
            },
            Self::Stream(_, filter) => match change {
                Change::Prompts => filter.prompts_list_changed == Some(true),
                Change::Resource(uri) => {
                    let mut uris = filter.resource_subscriptions.iter().flatten();
                    uris.any(|wanted| wanted == uri)
                }
                Change::Resources => filter.resources_list_changed == Some(true),
                Change::Tools => filter.tools_list_changed == Some(true),
            },
        }
    }

    fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Session(_) => None,
            Self::Stream(id, _) => Some(id),
        }
    }
}

impl Change<'_> {
    fn event(self, subscription: Option<&RequestId>) -> Vec<u8> {
        let meta = subscription.map(|id| NotificationMeta::on(id.clone()));
        let list = |method| {
            let mut params = NotificationParams::default();
            params.meta = meta.clone();
            event(method, &params)
        };
        match self {
            Self::Prompts => list("notifications/prompts/list_changed"),
            Self::Resource(uri) => {
                let mut params = ResourceUpdatedNotificationParams::new(uri);
                params.meta = meta;
                event("notifications/resources/updated", &params)
            }
            Self::Resources => list("notifications/resources/list_changed"),
            Self::Tools => list("notifications/tools/list_changed"),
        }
    }
}

/// A notification as an event.
pub(crate) fn event(method: &str, params: &impl Serialize) -> Vec<u8> {
    let mut event = Vec::new();
    let message = Notification::new(method, params);
    Frame::new()
        .write(&mut event, |data| message.encode(data))
        .expect("wire types have string keys only");
    event
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Changes({} subscribers)", self.lock().len())
    }
}

/// What a subscriber may lag behind: some hundred notifications.
const BUFFER: usize = 64 << 10;
