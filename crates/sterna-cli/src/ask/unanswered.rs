use std::sync::Arc;

use sterna_protocol::input::{InputRequest, InputRequests};
use tokio::sync::Notify;

use super::Asker;

/// Questions of a task that stay open because there is no answer.
///
/// A call that asks in its middle needs an answer of some kind; a task can wait.
#[derive(Debug, Default)]
pub(super) struct UnansweredQuestions {
    task: Option<String>,
    open: InputRequests,
    told: Arc<Notify>,
}

impl UnansweredQuestions {
    /// Lets what `task` asks stay open; tells when something does.
    pub(super) fn allow(&mut self, task: &str) -> Arc<Notify> {
        self.task = Some(task.to_owned());
        Arc::clone(&self.told)
    }

    /// Leaves a question open, if it may be.
    pub(super) fn add(&mut self, asker: Asker<'_>, request: &InputRequest) -> bool {
        let may = self.task.as_deref() == Some(asker.about);
        if may {
            self.open.insert(asker.key, request.clone());
            self.told.notify_one();
        }
        may
    }

    /// Takes the questions that were left open.
    pub(super) fn take(&mut self) -> InputRequests {
        std::mem::take(&mut self.open)
    }
}
