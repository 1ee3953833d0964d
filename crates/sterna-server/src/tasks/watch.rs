//! Tasks that a listener wants to hear of.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::NotificationMeta;
use sterna_protocol::tasks::TaskStatusNotificationParams;
use sterna_store::{Principal, Task, TaskId};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Tasks;
use super::failing::store_failed;
use crate::auth::Caller;
use crate::changes::event;
use crate::failure::Failure;

/// The tasks of one `subscriptions/listen` stream.
///
/// Polled by the stream itself. It looks at the store as often as clients are
/// asked to, and at once when this instance has changed something.
pub(crate) struct Watch {
    looking: Pin<Box<dyn Future<Output = Watching> + Send>>,
    events: VecDeque<Bytes>,
}

struct Watching {
    tasks: Arc<Tasks>,
    owner: Principal,
    subscription: RequestId,
    /// What was last told of each task that has not ended.
    told: HashMap<TaskId, Option<Task>>,
    changed: watch::Receiver<u64>,
    events: VecDeque<Bytes>,
    looked_at: Instant,
}

impl Tasks {
    /// The tasks among `wanted` that are the caller's own (TASK-S28), and what
    /// tells of them.
    pub(crate) async fn watch(
        self: &Arc<Self>,
        caller: &Caller,
        subscription: RequestId,
        wanted: Vec<String>,
    ) -> Result<(Vec<String>, Watch), Failure> {
        let owner = self.owner(caller);
        let (mut agreed, mut told) = (Vec::new(), HashMap::new());
        for text in wanted.into_iter().take(MOST_WATCHED) {
            let Ok(id) = text.parse() else { continue };
            let found = self.store.read(owner, id).await;
            if found.map_err(|error| store_failed(&error))?.is_some() {
                told.insert(id, None);
                agreed.push(text);
            }
        }
        let watching = Watching {
            tasks: Arc::clone(self),
            owner,
            subscription,
            told,
            changed: self.changed.subscribe(),
            events: VecDeque::new(),
            looked_at: Instant::now(),
        };
        let watch = Watch {
            looking: Box::pin(watching.look()),
            events: VecDeque::new(),
        };
        Ok((agreed, watch))
    }
}

impl Watch {
    /// The next notification. Never the last: the stream ends otherwise.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Poll::Ready(event);
            }
            let Poll::Ready(mut watching) = self.looking.as_mut().poll(cx) else {
                return Poll::Pending;
            };
            self.events = std::mem::take(&mut watching.events);
            self.looking = Box::pin(watching.wait());
        }
    }
}

impl Watching {
    /// Waits until there may be something to tell, then looks.
    async fn wait(mut self) -> Self {
        if self.told.is_empty() {
            return std::future::pending().await;
        }
        self.tasks.pause(self.looked_at, &mut self.changed).await;
        self.look().await
    }

    /// Tells of every task that is not as it was (TASK-S27).
    async fn look(mut self) -> Self {
        self.looked_at = Instant::now();
        let ids: Vec<TaskId> = self.told.keys().copied().collect();
        for id in ids {
            // A store that fails is asked again; nothing is lost by that.
            let Ok(found) = self.tasks.store.read(self.owner, id).await else {
                continue;
            };
            let Some(task) = found else {
                self.told.remove(&id);
                continue;
            };
            if self.told.get(&id) == Some(&Some(task.clone())) {
                continue;
            }
            let mut params = TaskStatusNotificationParams::new(self.tasks.detailed(&task));
            params.meta = Some(NotificationMeta::on(self.subscription.clone()));
            self.events
                .push_back(event("notifications/tasks", &params).into());
            if task.summary.status.is_final() {
                self.told.remove(&id);
            } else {
                self.told.insert(id, Some(task));
            }
        }
        self
    }
}

/// A client with more tasks than this opens a second stream.
const MOST_WATCHED: usize = 100;
