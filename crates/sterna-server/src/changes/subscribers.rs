//! Subscribers, and the notifications they get.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_http::{Admission, PushError};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::{NotificationMeta, NotificationParams};
use sterna_protocol::resource::ResourceUpdatedNotificationParams;
use sterna_protocol::subscription::SubscriptionFilter;

use crate::sink::MessageSink;

/// Those who listen on this instance.
#[derive(Default)]
pub(super) struct Subscribers(Mutex<SubscriberTable>);

#[derive(Default)]
struct SubscriberTable {
    /// The number of the last one.
    last: u64,
    by_number: BTreeMap<u64, Subscriber>,
}

struct Subscriber {
    audience: Audience,
    /// The caller that opened the stream.
    admission: Admission,
    sink: MessageSink,
}

/// Subscriber and its filter.
enum Audience {
    /// A session of the older revisions, which may change its mind.
    Session(Arc<dyn ResourceWatcher>),
    /// The stream that a request opened.
    Stream(RequestId, SubscriptionFilter),
}

/// Resources that a session watches.
pub(crate) trait ResourceWatcher: Send + Sync {
    /// Returns `true` if the session subscribed to the resource at `uri`.
    fn watches(&self, uri: &str) -> bool;
}

/// Change of a server.
#[derive(Clone, Copy)]
pub(crate) enum Change<'a> {
    Prompts,
    Resource(&'a str),
    Resources,
    Tools,
}

impl Subscribers {
    /// Tells those who want to know (SUB-S1).
    pub(super) fn tell(&self, change: Change<'_>) {
        self.lock().by_number.retain(|_, subscriber| {
            let wanted =
                subscriber.audience.wants(change) && change.may_be_told(&subscriber.admission);
            let sink = &subscriber.sink;
            if wanted && change.tell(sink, subscriber.audience.id()).is_err() {
                // The end of the stream tells a client that lags this far behind to list anew.
                sink.finish();
            }
            !subscriber.sink.is_closed()
        });
    }

    /// Adds the stream that the request `id` opened; its number.
    pub(super) fn subscribe(
        &self,
        id: RequestId,
        filter: SubscriptionFilter,
        admission: Admission,
        sink: MessageSink,
    ) -> u64 {
        self.add(Audience::Stream(id, filter), admission, sink)
    }

    /// Adds the stream of a session, in place of the one it had; its number.
    pub(super) fn attend(
        &self,
        session: Arc<dyn ResourceWatcher>,
        admission: Admission,
        sink: MessageSink,
    ) -> u64 {
        self.add(Audience::Session(session), admission, sink)
    }

    /// Forgets a stream that has ended.
    pub(super) fn forget(&self, number: u64) {
        let forgotten = self.lock().by_number.remove(&number);
        // Outside of the lock: it may be the last that knows of a session.
        drop(forgotten);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().by_number.len()
    }

    fn add(&self, audience: Audience, admission: Admission, sink: MessageSink) -> u64 {
        let mut table = self.lock();
        table.last += 1;
        let number = table.last;
        let subscriber = Subscriber {
            audience,
            admission,
            sink,
        };
        table.by_number.insert(number, subscriber);
        number
    }

    fn lock(&self) -> MutexGuard<'_, SubscriberTable> {
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
    /// Returns `true` if a caller may read what has changed. A session may have
    /// subscribed with another token than the one its stream was opened with.
    fn may_be_told(self, admission: &Admission) -> bool {
        match self {
            Self::Resource(uri) => admission.may("resources/read", Some(uri)).is_ok(),
            Self::Prompts | Self::Resources | Self::Tools => true,
        }
    }

    fn tell(self, sink: &MessageSink, subscription: Option<&RequestId>) -> Result<(), PushError> {
        let meta = subscription.map(|id| NotificationMeta::on(id.clone()));
        let list = |method| {
            let mut params = NotificationParams::default();
            params.meta = meta.clone();
            sink.notify(method, &params)
        };
        match self {
            Self::Prompts => list("notifications/prompts/list_changed"),
            Self::Resource(uri) => {
                let mut params = ResourceUpdatedNotificationParams::new(uri);
                params.meta = meta;
                sink.notify("notifications/resources/updated", &params)
            }
            Self::Resources => list("notifications/resources/list_changed"),
            Self::Tools => list("notifications/tools/list_changed"),
        }
    }
}
