//! `subscriptions/listen`: a stream that stays open.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::result::Complete;
use sterna_protocol::subscription::{
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams, SubscriptionsListenResult,
};

use super::write::Answer;
use crate::changes::event;
use crate::core::Core;
use crate::edge::{EdgeBody, Events, Inbound, Inbox, reply};
use crate::failure::Failure;
use crate::tasks::Watch;

/// Opens a subscription.
pub(super) async fn listen(
    core: &Core,
    inbound: &Inbound,
    id: RequestId,
    params: SubscriptionsListenRequestParams,
) -> Response<EdgeBody> {
    let wanted = params.notifications.task_ids.clone();
    let mut filter = core.honoured(params.notifications);
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
        match tasks.watch(inbound.pass.caller(), id.clone(), wanted).await {
            Ok((agreed, watching)) => {
                filter.task_ids = Some(agreed);
                watch = Some(watching);
            }
            Err(failure) => return Answer::failed(Some(&id), &failure).plain(inbound.accepts),
        }
    }
    let (outbox, inbox) = inbound.outbox();
    core.changes.subscribe(id.clone(), filter.clone(), outbox);
    // SUB-S2: the acknowledgement comes first.
    let acknowledged = SubscriptionsAcknowledgedNotificationParams::new(id.clone(), filter);
    let acknowledged = event("notifications/subscriptions/acknowledged", &acknowledged);
    // SUB-S3: a stream that we end is ended with a result.
    let mut result = SubscriptionsListenResult::new(id.clone());
    result.meta.server_info = Some(core.info.clone());
    let end = Answer::done(id, &Complete(result)).event();
    let shutdown = inbound.shutdown.clone();
    reply::listening(Listening {
        first: VecDeque::from([acknowledged.into()]),
        inbox: Some(inbox),
        watch,
        end: Some(end),
        leaving: Box::pin(async move { shutdown.begun().await }),
    })
}

impl Core {
    /// The part of a filter that this server keeps (SUB-S5).
    fn honoured(&self, wanted: SubscriptionFilter) -> SubscriptionFilter {
        let lists_change = |_: &bool| self.offers.changing;
        let has_resources = self.has_resources();
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = wanted.tools_list_changed.filter(lists_change);
        filter.prompts_list_changed = wanted.prompts_list_changed.filter(lists_change);
        filter.resources_list_changed = wanted.resources_list_changed.filter(lists_change);
        filter.resource_subscriptions = wanted.resource_subscriptions.filter(|_| has_resources);
        filter
    }
}

/// An open subscription. The connection polls it; dropping it ends it.
struct Listening {
    first: VecDeque<Bytes>,
    inbox: Option<Inbox>,
    watch: Option<Watch>,
    end: Option<Bytes>,
    leaving: Pin<Box<dyn Future<Output = ()> + Send>>,
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
