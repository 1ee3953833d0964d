//! `subscriptions/listen`: a stream that stays open.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use sterna_http::{
    Admission, Events, Inbound, Inbox, Limits, Part, Refusal, Reservation, ResponseBody, reply,
};
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::result::Complete;
use sterna_protocol::subscription::{
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams, SubscriptionsListenResult,
};

use crate::changes::Subscription;
use crate::core::Core;
use crate::failure::Failure;
use crate::reply::{Answer, refuse};
use crate::sink::{MessageSink, notification};
use crate::tasks::TaskSubscription;

/// Opens a subscription.
pub(super) async fn listen(
    core: &Core,
    inbound: &Inbound,
    id: RequestId,
    params: SubscriptionsListenRequestParams,
) -> Response<ResponseBody> {
    let limits = inbound.memory.limits();
    if let Err(failure) = check(limits, &params.notifications) {
        return Answer::failed(Some(&id), &failure).plain(inbound.accepts);
    }
    let wanted = params.notifications.task_ids.clone();
    let mut filter = core.honoured(params.notifications, &inbound.admission);
    let Some(hold) = inbound.memory.take(Part::Subscriptions, size(&filter)) else {
        return refuse(Refusal::Busy);
    };
    let mut watch = None;
    // A server without tasks promises nothing about them.
    if let (Some(tasks), Some(wanted)) = (&core.tasks, wanted) {
        // TASK-S18
        if !params
            .meta
            .client_capabilities
            .has_extension(ExtensionId::TASKS.as_str())
        {
            let needed = ClientCapabilities::default().with_extension(&ExtensionId::TASKS);
            let failure = Failure::Capability(Box::new(needed));
            return Answer::failed(Some(&id), &failure).plain(inbound.accepts);
        }
        let caller = inbound.admission.caller();
        let may_get = inbound.admission.may("tasks/get", None).is_ok();
        let wanted = Some(wanted).filter(|_| may_get).unwrap_or_default();
        match tasks
            .watch(caller, id.clone(), inbound.transport, wanted)
            .await
        {
            Ok((agreed, watching)) => {
                filter.task_ids = Some(agreed);
                watch = Some(watching);
            }
            Err(failure) => return Answer::failed(Some(&id), &failure).plain(inbound.accepts),
        }
    }
    let (outbox, inbox) = inbound.lasting_outbox();
    let sink = MessageSink::new(outbox, inbound.transport);
    let admission = inbound.admission.clone();
    let subscription =
        core.environment
            .changes
            .subscribe(id.clone(), filter.clone(), admission, sink);
    // SUB-S2: the acknowledgement comes first.
    let acknowledged = SubscriptionsAcknowledgedNotificationParams::new(id.clone(), filter);
    let acknowledged = notification(
        inbound.transport,
        "notifications/subscriptions/acknowledged",
        &acknowledged,
    );
    // SUB-S3: a stream that we end is ended with a result.
    let mut result = SubscriptionsListenResult::new(id.clone());
    result.meta.server_info = Some(core.info.clone());
    let end = Answer::done(id, &Complete(result)).last_of(inbound.transport);
    let shutdown = inbound.shutdown.clone();
    reply::listening(Listening {
        first: VecDeque::from([acknowledged.into()]),
        inbox: Some(inbox),
        watch,
        end: Some(end),
        leaving: Box::pin(async move { shutdown.begun().await }),
        _subscription: subscription,
        _hold: hold,
    })
}

/// Refuses a filter that names more than one listener may.
fn check(limits: &Limits, wanted: &SubscriptionFilter) -> Result<(), Failure> {
    let uris = wanted.resource_subscriptions.as_deref().unwrap_or_default();
    if uris.len() > limits.subscriptions {
        let problem = "`resourceSubscriptions` names more URIs than one listener may (`limits.subscriptions`)";
        return Err(Failure::params(problem));
    }
    if uris.iter().any(|uri| uri.len() > limits.uri_bytes) {
        let problem =
            "`resourceSubscriptions` has a URI longer than this server takes (`limits.uri_bytes`)";
        return Err(Failure::params(problem));
    }
    Ok(())
}

/// Memory that a filter takes while its stream is open.
fn size(filter: &SubscriptionFilter) -> usize {
    let uris = filter.resource_subscriptions.iter().flatten();
    let uris = uris.map(|uri| uri.len() + size_of::<String>() + ALLOCATION);
    LISTENER + uris.sum::<usize>()
}

/// Memory of a listener without URIs, roughly.
const LISTENER: usize = 1 << 10;

/// The memory that an allocation takes besides its bytes, about. Without it, a
/// million addresses of a few bytes would be charged a third of what they take.
const ALLOCATION: usize = 32;

impl Core {
    /// The part of a filter that this server keeps for a caller (SUB-S5): what
    /// it may not read, it is not told of either.
    fn honoured(&self, wanted: SubscriptionFilter, admission: &Admission) -> SubscriptionFilter {
        let lists_change = |_: &bool| self.offers.changing;
        let has_resources = self.has_resources();
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = wanted.tools_list_changed.filter(lists_change);
        filter.prompts_list_changed = wanted.prompts_list_changed.filter(lists_change);
        filter.resources_list_changed = wanted.resources_list_changed.filter(lists_change);
        filter.resource_subscriptions = wanted
            .resource_subscriptions
            .filter(|_| has_resources)
            .map(|mut uris| {
                uris.retain(|uri| admission.may("resources/read", Some(uri)).is_ok());
                uris
            });
        filter
    }
}

/// An open subscription. The connection polls it; dropping it ends it.
struct Listening {
    first: VecDeque<Bytes>,
    inbox: Option<Inbox>,
    watch: Option<TaskSubscription>,
    end: Option<Bytes>,
    leaving: Pin<Box<dyn Future<Output = ()> + Send>>,
    _subscription: Subscription,
    /// For what the filter takes.
    _hold: Reservation,
}

impl Listening {
    fn poll_watch(&mut self, cx: &mut Context<'_>) -> Option<Bytes> {
        match self.watch.as_mut()?.poll_event(cx) {
            Poll::Ready(event) => Some(event),
            Poll::Pending => None,
        }
    }
}

impl Events for Listening {
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        if let Some(event) = this.first.pop_front() {
            return Poll::Ready(Some(event));
        }
        if let Some(inbox) = &this.inbox {
            match inbox.poll_event(cx) {
                Poll::Ready(Some(event)) => return Poll::Ready(Some(event)),
                // We have ended it, because it lagged too far behind.
                Poll::Ready(None) => this.inbox = None,
                Poll::Pending => {
                    if let Some(event) = this.poll_watch(cx) {
                        return Poll::Ready(Some(event));
                    }
                    match this.leaving.as_mut().poll(cx) {
                        Poll::Ready(()) => this.inbox = None,
                        Poll::Pending => return Poll::Pending,
                    }
                }
            }
        }
        Poll::Ready(this.end.take())
    }
}
