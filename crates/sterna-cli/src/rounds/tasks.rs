//! Calls that go on at the server, as tasks.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::anyhow;
use serde_json::json;
use sterna_client::{Error, Reply, TaskHandle};
use sterna_protocol::input::InputRequests;
use sterna_protocol::tasks::TaskState;

use super::{Asked, CallProgress, Rounds, listed};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::session::failure;
use crate::text::one_line;

impl Rounds<'_> {
    /// Follows a task to its end and answers what it asks.
    pub(crate) async fn follow<T: Reply>(
        &self,
        task: &TaskHandle,
    ) -> Result<CallProgress<T>, Failure> {
        let mut answered = BTreeSet::new();
        let mut waiting = None;
        loop {
            let got = self.unless_left(task, task.get(self.client));
            let (head, state) = got.await?.into_parts();
            match state {
                TaskState::Cancelled => {
                    let error = anyhow!("the task was cancelled");
                    return Err(Failure::new(Exit::Declined, error));
                }
                TaskState::Completed(_) | TaskState::Failed(_) => {
                    let result = self.unless_left(task, task.follow(self.client)).await?;
                    return Ok(self.end(T::of_task(result).map_err(failure)?).await);
                }
                TaskState::InputRequired(open) if open.is_empty() => {
                    drop(waiting);
                    return self.wait_for(task).await;
                }
                TaskState::InputRequired(open) => {
                    // TASK-C8: what is still shown is not asked anew.
                    answered.retain(|key: &String| open.get(key).is_some());
                    let fresh = open.into_iter();
                    let fresh = fresh.filter(|(key, _)| !answered.contains(key));
                    let fresh: InputRequests = fresh.collect();
                    if !fresh.is_empty() {
                        // A bar that moves would write over the form.
                        waiting = None;
                        let keys = fresh.iter().map(|(key, _)| key.to_owned());
                        answered.extend(keys);
                        match self.answer_task(task, &fresh).await? {
                            Some(exit) => return Ok(CallProgress::Later(exit)),
                            None => continue,
                        }
                    }
                }
                _ => answered.clear(),
            }
            let bar = waiting.get_or_insert_with(|| Progress::new(self.screen));
            if let Some(message) = &head.status_message {
                bar.say(message);
            }
            let pace = head.poll_interval_ms.map_or(USUAL, Duration::from_millis);
            let pause = async {
                tokio::time::sleep(pace.clamp(FASTEST, SLOWEST)).await;
                Ok(())
            };
            self.unless_left(task, pause).await?;
        }
    }

    /// Waits for `work`; an interrupt leaves the task running.
    pub(crate) fn unless_left<T>(
        &self,
        task: &TaskHandle,
        work: impl Future<Output = Result<T, Error>>,
    ) -> impl Future<Output = Result<T, Failure>> {
        let work = self.unless_stopped(async { work.await.map_err(failure) });
        let work = interrupt::or("interrupted; the task goes on", work);
        async move {
            work.await.map_err(|failed| match failed.exit {
                Exit::Declined => failed.hint(self.follow_hint("it can be found again", task)),
                _ => failed,
            })
        }
    }

    /// Answers the questions of a task. Returns the exit code to end with if
    /// some have no answer.
    pub(crate) async fn answer_task(
        &self,
        task: &TaskHandle,
        open: &InputRequests,
    ) -> Result<Option<Exit>, Failure> {
        let about = format!("task {}", task.task_id());
        let (answers, asked) = self.ask(task.server(), &about, open.clone()).await?;
        let left: InputRequests = open
            .iter()
            .filter(|(key, _)| answers.iter().all(|(answered, _)| answered != key))
            .map(|(key, request)| (key.to_owned(), request.clone()))
            .collect();
        if matches!(asked, Asked::Stopped) {
            let error = anyhow!("you stopped; the task waits for an answer");
            let hint = self.follow_hint("go on", task);
            return Err(Failure::new(Exit::Declined, error).hint(hint));
        }
        if !answers.is_empty() {
            let answers = answers.into_iter().collect();
            self.unless_left(task, task.update(self.client, answers))
                .await?;
        }
        if left.is_empty() {
            return Ok(None);
        }
        self.leave_open(task, &left).map(Some)
    }

    /// Says what a task waits for, and how to come back to it.
    pub(crate) fn leave_open(
        &self,
        task: &TaskHandle,
        open: &InputRequests,
    ) -> Result<Exit, Failure> {
        let keys = listed(open.iter().map(|(key, _)| key));
        self.screen.result(
            &json!({"inputRequired": open, "task": task}),
            format!("input required: {keys}\n"),
        )?;
        let line = self.follow_line(task, " --answer KEY.FIELD=VALUE");
        self.screen
            .note(format!("the task waits; follow it with: {line}"));
        Ok(Exit::InputRequired)
    }

    /// Leaves a task to itself; the user gets its handle.
    pub(crate) fn leave<T>(&self, task: &TaskHandle) -> Result<CallProgress<T>, Failure> {
        let id = one_line(task.task_id());
        self.screen.result(task, format!("{id}\n"))?;
        self.screen
            .note(self.follow_hint("it goes on as a task", task));
        Ok(CallProgress::Later(Exit::Done))
    }

    /// The command that comes back to a task.
    pub(crate) fn follow_hint(&self, what: &str, task: &TaskHandle) -> String {
        format!("{what}; follow it with: {}", self.follow_line(task, ""))
    }

    fn follow_line(&self, task: &TaskHandle, flags: &str) -> String {
        match self.target {
            Some(target) => target.follow_line(task.task_id(), flags),
            None => {
                let (server, id) = (one_line(task.server()), one_line(task.task_id()));
                format!("sterna task follow {server} {id}{flags}")
            }
        }
    }
}

const USUAL: Duration = Duration::from_secs(1);
const FASTEST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(60);
