//! Those who listen, and what they are told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use sterna_protocol::jsonrpc::{Notification, RequestId};
use sterna_protocol::meta::{NotificationMeta, NotificationParams};
use sterna_protocol::resource::ResourceUpdatedNotificationParams;
use sterna_protocol::sse::Frame;
use sterna_protocol::subscription::SubscriptionFilter;

use crate::edge::Outbox;
use crate::legacy::Live;

/// Those who listen on this instance.
#[derive(Default)]
pub(super) struct Subscribers(Mutex<Vec<Subscriber>>);

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
pub(super) enum Change<'a> {
    Prompts,
    Resource(&'a str),
    Resources,
    Tools,
}

impl Subscribers {
    /// Tells those who want to know (SUB-S1).
    pub(super) fn tell(&self, change: Change<'_>) {
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
    pub(super) fn subscribe(&self, id: RequestId, filter: SubscriptionFilter, outbox: Outbox) {
        self.add(Audience::Stream(id, filter), outbox);
    }

    /// Opens the stream of a session, in place of the one it had.
    pub(super) fn attend(&self, session: Arc<Live>, outbox: Outbox) {
        session.listen(outbox.clone());
        self.add(Audience::Session(session), outbox);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
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
