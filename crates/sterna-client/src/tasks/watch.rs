//! How one hears that a task has changed: by listening, or by asking.

use std::sync::Arc;
use std::time::Duration;

use sterna_protocol::subscription::SubscriptionFilter;
use sterna_protocol::tasks::DetailedTask;

use super::extension;
use crate::core::Core;
use crate::error::Error;
use crate::listen::{Change, Subscription};

/// Follows one task of the extension.
pub(super) struct Watch<'a> {
    core: &'a Arc<Core>,
    task_id: &'a str,
    ears: Ears,
}

enum Ears {
    /// Nobody has asked the server yet whether it tells.
    Untried,
    /// It tells.
    Open(Subscription),
    /// It does not.
    Shut,
}

impl<'a> Watch<'a> {
    pub(super) fn new(core: &'a Arc<Core>, task_id: &'a str) -> Self {
        Self {
            core,
            task_id,
            ears: Ears::Untried,
        }
    }

    /// How the task stands.
    pub(super) fn look(&self) -> impl Future<Output = Result<DetailedTask, Error>> + use<'a> {
        extension::get(self.core, self.task_id)
    }

    /// How the task stands once something may have changed; at the latest after
    /// `pace`, unless the server tells.
    pub(super) async fn next(&mut self, pace: Duration) -> Result<DetailedTask, Error> {
        if let Ears::Untried = self.ears {
            self.ears = listen(self.core, self.task_id).await;
            if let Ears::Open(_) = self.ears {
                // Something may have happened before anybody listened.
                return self.look().await;
            }
        }
        if let Ears::Open(stream) = &mut self.ears {
            match tokio::time::timeout(SLOWEST, told(stream, self.task_id)).await {
                Ok(Told::Task(task)) => return Ok(*task),
                // Whatever is told or not, the truth is found by asking.
                Ok(Told::Gap) | Err(_) => return self.look().await,
                Ok(Told::Nothing) => self.ears = Ears::Shut,
            }
        }
        // TASK-C3: at the server's pace, whichever it is by now.
        tokio::time::sleep(pace.clamp(FASTEST, SLOWEST)).await;
        self.look().await
    }
}

async fn listen(core: &Arc<Core>, task_id: &str) -> Ears {
    let mut filter = SubscriptionFilter::default();
    filter.task_ids = Some(vec![task_id.to_owned()]);
    let opening = Subscription::open(core.clone(), filter);
    let agreed = |stream: &Subscription| {
        let mut tasks = stream.granted().task_ids.iter().flatten();
        tasks.any(|granted| granted == task_id)
    };
    match tokio::time::timeout(OPENING, opening).await {
        Ok(Ok(stream)) if agreed(&stream) => Ears::Open(stream),
        _ => Ears::Shut,
    }
}

enum Told {
    /// Something may have been missed.
    Gap,
    /// Nothing more will be.
    Nothing,
    /// How the task stands.
    Task(Box<DetailedTask>),
}

async fn told(stream: &mut Subscription, task_id: &str) -> Told {
    loop {
        match stream.next().await {
            Ok(Some(Change::Task(task))) if task.task().task_id == task_id => {
                return Told::Task(task);
            }
            Ok(Some(Change::Reopened)) => return Told::Gap,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return Told::Nothing,
        }
    }
}

/// How long a server may ponder whether it tells.
const OPENING: Duration = Duration::from_secs(2);

pub(super) const FASTEST: Duration = Duration::from_millis(50);
pub(super) const SLOWEST: Duration = Duration::from_secs(60);
