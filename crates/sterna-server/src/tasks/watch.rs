//! Notifications about tasks on a `subscriptions/listen` stream.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use sterna_http::Transport;
use sterna_http::auth::Caller;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::NotificationMeta;
use sterna_protocol::tasks::TaskStatusNotificationParams;
use sterna_runner::tasks::TaskWatch;
use sterna_store::{Cursor, Error, Owner, Page, Summary, TaskId, UnixMillis};
use tokio::time::Instant;

use super::{Tasks, store_failed};
use crate::failure::Failure;
use crate::sink::notification;

/// The tasks of one `subscriptions/listen` stream.
///
/// Polled by the stream itself. It looks at the store as often as clients are
/// asked to, and at once when this instance has changed something.
///
/// A task may be megabytes of questions, and a hundred of them may be watched
/// by each listener. So only summaries are kept and compared, a task is read
/// whole when its summary has changed, and the next one is looked at when the
/// connection has taken the last notification.
pub(crate) struct TaskSubscription(Pin<Box<dyn Future<Output = (Watching, Bytes)> + Send>>);

struct Watching {
    tasks: Arc<Tasks>,
    owner: Owner,
    subscription: RequestId,
    transport: Transport,
    /// Last notification about each task that has not ended.
    told: HashMap<TaskId, Option<Told>>,
    /// Those that have not been looked at since the last pause.
    due: VecDeque<TaskId>,
    watch: TaskWatch,
    looked_at: Instant,
}

/// Last notification about a task.
struct Told {
    summary: Summary,
    /// Of the whole task.
    digest: u64,
    /// `true` if the task was read whole again since. Summaries have a time in
    /// milliseconds, so a second change within one is seen only by that.
    is_settled: bool,
}

impl Tasks {
    /// The tasks among `wanted` that are the caller's own (TASK-S28), and what
    /// tells of them.
    pub(crate) async fn watch(
        self: &Arc<Self>,
        caller: &Caller,
        subscription: RequestId,
        transport: Transport,
        wanted: Vec<String>,
    ) -> Result<(Vec<String>, TaskSubscription), Failure> {
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
        let watch = self.queue.watch(told.keys().copied());
        let watching = Watching {
            tasks: Arc::clone(self),
            owner,
            subscription,
            transport,
            due: told.keys().copied().collect(),
            told,
            watch,
            looked_at: Instant::now(),
        };
        Ok((agreed, TaskSubscription(Box::pin(watching.next()))))
    }

    /// Summary of a task, without its questions; `None` if the task is gone.
    async fn summary(
        &self,
        owner: Owner,
        id: TaskId,
        created_at: UnixMillis,
    ) -> Result<Option<Summary>, Error> {
        // The place in the list right before it.
        let number = u128::from_be_bytes(*id.as_bytes());
        let before = match number.checked_sub(1) {
            Some(before) => Cursor::new(created_at, TaskId::from_bytes(before.to_be_bytes())),
            None => {
                let earlier = UnixMillis::new(created_at.get() - 1);
                Cursor::new(earlier, TaskId::from_bytes([0xff; 16]))
            }
        };
        let listed = self.store.list(owner, Page::after(before, 1)).await?;
        Ok(listed.tasks.into_iter().find(|task| task.id == id))
    }
}

impl TaskSubscription {
    /// The next notification. Never the last: the stream ends otherwise.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        let (watching, event) = ready!(self.0.as_mut().poll(cx));
        self.0 = Box::pin(watching.next());
        Poll::Ready(event)
    }
}

impl Watching {
    /// Waits until there is something to tell of a task that is not as it was
    /// (TASK-S27).
    async fn next(mut self) -> (Self, Bytes) {
        loop {
            while let Some(id) = self.due.pop_front() {
                if let Some(event) = self.look_at(id).await {
                    return (self, event);
                }
            }
            if self.told.is_empty() {
                return std::future::pending().await;
            }
            self.tasks.pause(self.looked_at, &mut self.watch).await;
            self.looked_at = Instant::now();
            self.due = self.told.keys().copied().collect();
        }
    }

    async fn look_at(&mut self, id: TaskId) -> Option<Bytes> {
        let told = self.told.get(&id)?.as_ref();
        if let Some(told) = told.filter(|told| told.is_settled) {
            let created_at = told.summary.created_at;
            // A store that fails is asked again; nothing is lost by that.
            match self.tasks.summary(self.owner, id, created_at).await.ok()? {
                Some(summary) if summary == told.summary => return None,
                Some(_) => {}
                None => {
                    self.told.remove(&id);
                    return None;
                }
            }
        }
        let Some(task) = self.tasks.store.read(self.owner, id).await.ok()? else {
            self.told.remove(&id);
            return None;
        };
        let mut params = TaskStatusNotificationParams::new(self.tasks.detailed(&task));
        params.meta = Some(NotificationMeta::on(self.subscription.clone()));
        let event = notification(self.transport, "notifications/tasks", &params);
        if task.summary.status.is_final() {
            self.told.remove(&id);
            return Some(event.into());
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(&event);
        let digest = hasher.finish();
        let before = self.told.get(&id).and_then(Option::as_ref);
        let is_settled = before.is_some_and(|before| before.digest == digest);
        let summary = task.summary;
        self.told.insert(
            id,
            Some(Told {
                summary,
                digest,
                is_settled,
            }),
        );
        (!is_settled).then(|| event.into())
    }
}

/// A client with more tasks than this opens a second stream.
const MOST_WATCHED: usize = 100;
