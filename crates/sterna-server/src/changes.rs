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

/// Tells subscribers what has changed. Cheap to clone, and good for the whole
/// life of the server: from [`Service::changes`](crate::Service::changes), or
/// inside a handler from [`Request::changes`](crate::Request::changes).
///
/// Each notification reaches every open `subscriptions/listen` stream that
/// asked for it, on this instance.
#[derive(Clone, Default)]
pub struct Changes(Arc<Mutex<Vec<Subscriber>>>);

struct Subscriber {
    id: RequestId,
    filter: SubscriptionFilter,
    outbox: Outbox,
}

impl Changes {
    /// The list of tools has changed.
    pub fn tools(&self) {
        self.list_changed("notifications/tools/list_changed", |filter| {
            filter.tools_list_changed
        });
    }

    /// The list of prompts has changed.
    pub fn prompts(&self) {
        self.list_changed("notifications/prompts/list_changed", |filter| {
            filter.prompts_list_changed
        });
    }

    /// The list of resources has changed.
    pub fn resources(&self) {
        self.list_changed("notifications/resources/list_changed", |filter| {
            filter.resources_list_changed
        });
    }

    /// The resource at `uri` has changed.
    pub fn resource(&self, uri: &str) {
        let wanted = |filter: &SubscriptionFilter| {
            let mut uris = filter.resource_subscriptions.iter().flatten();
            uris.any(|wanted| wanted == uri)
        };
        self.tell(wanted, |id| {
            let mut params = ResourceUpdatedNotificationParams::new(uri);
            params.meta = Some(NotificationMeta::on(id));
            event("notifications/resources/updated", &params)
        });
    }

    fn list_changed(
        &self,
        method: &'static str,
        wanted: impl Fn(&SubscriptionFilter) -> Option<bool>,
    ) {
        let wanted = |filter: &SubscriptionFilter| wanted(filter) == Some(true);
        self.tell(wanted, |id| {
            let mut params = NotificationParams::default();
            params.meta = Some(NotificationMeta::on(id));
            event(method, &params)
        });
    }

    /// Tells those whose filter wants it (SUB-S1).
    fn tell(
        &self,
        wanted: impl Fn(&SubscriptionFilter) -> bool,
        write: impl Fn(RequestId) -> Vec<u8>,
    ) {
        self.lock().retain(|subscriber| {
            if wanted(&subscriber.filter) {
                let event = write(subscriber.id.clone());
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
        let subscriber = Subscriber { id, filter, outbox };
        let mut subscribers = self.lock();
        subscribers.retain(|subscriber| !subscriber.outbox.is_closed());
        subscribers.push(subscriber);
        inbox
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
