//! Watching a task: by subscription, or by polling.

use std::sync::Arc;
use std::time::Duration;

use sterna_protocol::subscription::SubscriptionFilter;
use sterna_protocol::tasks::DetailedTask;

use super::extension;
use crate::core::Core;
use crate::error::Error;
use crate::listen::Subscription;
use crate::notifications::Change;

/// Follows one task of the extension.
pub(super) struct TaskWatcher<'a> {
    core: &'a Arc<Core>,
    task_id: &'a str,
    status: StatusStream,
}

enum StatusStream {
    /// The subscription was not tried yet.
    Untried,
    /// It tells.
    Open(Subscription),
    /// It does not.
    Unavailable,
}

impl<'a> TaskWatcher<'a> {
    pub(super) fn new(core: &'a Arc<Core>, task_id: &'a str) -> Self {
        Self {
            core,
            task_id,
            status: StatusStream::Untried,
        }
    }

    /// Fetches the state of the task.
    pub(super) fn look(&self) -> impl Future<Output = Result<DetailedTask, Error>> + use<'a> {
        extension::get(self.core, self.task_id)
    }

    /// Waits for a change, by subscription or for `pace`, and returns the state
    /// of the task.
    pub(super) async fn next(&mut self, pace: Duration) -> Result<DetailedTask, Error> {
        if let StatusStream::Untried = self.status {
            self.status = listen(self.core, self.task_id).await;
            if let StatusStream::Open(_) = self.status {
                // The task may have changed before the subscription.
                return self.look().await;
            }
        }
        if let StatusStream::Open(stream) = &mut self.status {
            match tokio::time::timeout(SLOWEST, told(stream, self.task_id)).await {
                Ok(StatusUpdate::Task(task)) => return Ok(*task),
                // Notifications may be missing, so the status is read.
                Ok(StatusUpdate::Gap) | Err(_) => return self.look().await,
                Ok(StatusUpdate::Nothing) => self.status = StatusStream::Unavailable,
            }
        }
        // TASK-C3: at the server's current interval.
        tokio::time::sleep(pace.clamp(FASTEST, SLOWEST)).await;
        self.look().await
    }
}

async fn listen(core: &Arc<Core>, task_id: &str) -> StatusStream {
    let mut filter = SubscriptionFilter::default();
    filter.task_ids = Some(vec![task_id.to_owned()]);
    let opening = Subscription::open(core.clone(), filter);
    let agreed = |stream: &Subscription| {
        let mut tasks = stream.granted().task_ids.iter().flatten();
        tasks.any(|granted| granted == task_id)
    };
    match tokio::time::timeout(OPENING, opening).await {
        Ok(Ok(stream)) if agreed(&stream) => StatusStream::Open(stream),
        _ => StatusStream::Unavailable,
    }
}

enum StatusUpdate {
    /// Something may have been missed.
    Gap,
    /// Nothing more will be.
    Nothing,
    /// The state of the task.
    Task(Box<DetailedTask>),
}

async fn told(stream: &mut Subscription, task_id: &str) -> StatusUpdate {
    loop {
        match stream.next().await {
            Ok(Some(Change::Task(task))) if task.task().task_id == task_id => {
                return StatusUpdate::Task(task);
            }
            Ok(Some(Change::Reopened)) => return StatusUpdate::Gap,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return StatusUpdate::Nothing,
        }
    }
}

/// Longest wait for the server's answer to the subscription.
const OPENING: Duration = Duration::from_secs(2);

pub(super) const FASTEST: Duration = Duration::from_millis(50);
pub(super) const SLOWEST: Duration = Duration::from_secs(60);
