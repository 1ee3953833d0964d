//! The handler of a task, poll by poll.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use sterna_flow::{BackendError, Changes, Driver, Error, OpenQuestion, Outcome as Ending, Remote};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_protocol::tool::CallToolResult;
use sterna_protocol::version::ProtocolVersion;
use sterna_store::{Answer, Commit, Name, Outcome, Passivated, Passivation, Question, TaskUpdate};
use tokio::time::{Instant, Sleep};

use super::desk::Desk;
use super::job::{Job, failed, json};
use super::keeper::{Keeper, Lost};
use crate::call::Request;
use crate::cx::CANNOT_ASK;
use crate::failure::Failure;
use crate::modern::finish_tool;
use crate::rounds::{gate, now};

pub(super) type Running =
    Driver<'static, dyn Future<Output = Result<CallToolResult, Failure>> + Send>;

/// How a worker lets go of a task.
pub(super) enum End {
    Finished(Outcome),
    HandedOver,
    /// To those who can read it.
    Left,
    Parked,
    Retry,
}

impl End {
    /// In a word, for operators.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Finished(Outcome::Cancelled) => "cancelled",
            Self::Finished(Outcome::Completed(_)) => "finished",
            Self::Finished(_) => "failed",
            Self::HandedOver => "shed",
            Self::Left => "left",
            Self::Parked => "waiting",
            Self::Retry => "retry",
        }
    }
}

/// What a worker has to see to.
enum Turn {
    Asked(Changes),
    Ended(Ending<CallToolResult, Failure>),
    Idle,
    /// There may be news: the bell rang, or the last commit brought some.
    TaskUpdate,
    Renew,
    /// The server is going away, or has waited for long enough.
    Leave,
}

/// A task that is being worked on.
pub(super) struct Work {
    job: Job,
    tool: String,
    request: Request,
    driver: Running,
    remote: Remote<'static>,
    desk: std::sync::Arc<Desk>,
    /// What the client is asked, as the store will know it.
    open: BTreeMap<String, Question>,
    leave_at: Option<Instant>,
    /// How the handler ended while the store was being waited for.
    ended: Option<Ending<CallToolResult, Failure>>,
}

impl Work {
    pub(super) fn new(
        job: Job,
        tool: String,
        request: Request,
        driver: Running,
        desk: std::sync::Arc<Desk>,
        open: BTreeMap<String, Question>,
    ) -> Self {
        Self {
            remote: driver.remote(),
            job,
            tool,
            request,
            driver,
            desk,
            open,
            leave_at: None,
            ended: None,
        }
    }

    /// Goes on until the task ends, waits, or must be let go of.
    pub(super) async fn go_on(mut self, keeper: &mut Keeper) -> Result<End, Lost> {
        if self.job.claimed.summary.status.is_final() {
            self.remote.cancel();
        }
        let answers = std::mem::take(&mut self.job.claimed.answers);
        self.hand_in(answers);
        loop {
            let turn = self.next(keeper).await;
            if let Some(mistake) = self.request.mistake() {
                tracing::error!(target: "sterna::tasks", tool = self.tool, "MR0201: {mistake}");
                let mistake = format_args!("MR0201: {mistake}");
                return Ok(End::Finished(failed(&self.job.core.mistaken(mistake))));
            }
            match turn {
                Turn::Ended(ending) => return Ok(self.end(ending)),
                Turn::Asked(changes) => {
                    if let Some(end) = self.ask(changes, keeper).await? {
                        return Ok(end);
                    }
                }
                Turn::Idle => {
                    if let Some(end) = self.put_away(keeper).await? {
                        return Ok(end);
                    }
                }
                Turn::TaskUpdate => match self.desk.take_news() {
                    Some(news) => self.hear(news),
                    None => self.ask_for_news(keeper).await?,
                },
                Turn::Renew => self.ask_for_news(keeper).await?,
                Turn::Leave => match self.leave_at {
                    // Whatever runs has some time left to come to a point where it can go.
                    None => {
                        self.remote.shed();
                        self.leave_at = Some(Instant::now() + self.job.tasks.config.drain);
                    }
                    Some(_) => return Ok(End::HandedOver),
                },
            }
        }
    }

    /// Polls the handler until there is something to see to.
    async fn next(&mut self, keeper: &Keeper) -> Turn {
        let Self {
            driver,
            desk,
            job,
            ended,
            ..
        } = self;
        let leave_at = self.leave_at;
        let mut timer = pin!(None::<Sleep>);
        let turn = std::future::poll_fn(|cx| {
            if let Some(ending) = ended.take() {
                return Poll::Ready(Turn::Ended(ending));
            }
            loop {
                if let Poll::Ready(ending) = driver.poll(now(), cx) {
                    return Poll::Ready(Turn::Ended(ending));
                }
                if desk.has_news() {
                    return Poll::Ready(Turn::TaskUpdate);
                }
                let changes = driver.changes();
                if !changes.opened.is_empty() || !changes.withdrawn.is_empty() {
                    return Poll::Ready(Turn::Asked(changes));
                }
                if driver.is_idle() {
                    return Poll::Ready(Turn::Idle);
                }
                let Some(wake) = driver.next_wake() else {
                    return Poll::Pending;
                };
                timer.set(Some(tokio::time::sleep(wake - now())));
                let over = timer.as_mut().as_pin_mut();
                if !over.is_some_and(|timer| timer.poll(cx).is_ready()) {
                    return Poll::Pending;
                }
            }
        });
        let leaving = async {
            match leave_at {
                None => job.shutdown.begun().await,
                Some(at) => tokio::time::sleep_until(at).await,
            }
        };
        tokio::select! {
            biased;
            turn = turn => turn,
            () = tokio::time::sleep_until(keeper.renew_at()) => Turn::Renew,
            () = job.bell.notified() => Turn::TaskUpdate,
            () = leaving => Turn::Leave,
        }
    }

    async fn ask_for_news(&mut self, keeper: &mut Keeper) -> Result<(), Lost> {
        if let Some(news) = self.meanwhile(keeper.renew()).await? {
            self.hear(news);
        }
        Ok(())
    }

    /// Waits for the store, and lets the handler go on meanwhile.
    ///
    /// The handler may have begun something that `said` has to wait for, such
    /// as a commit that holds the row of this task.
    async fn meanwhile<T>(&mut self, said: impl Future<Output = T>) -> T {
        let Self { driver, ended, .. } = self;
        let mut said = pin!(said);
        std::future::poll_fn(|cx| {
            if ended.is_none()
                && let Poll::Ready(ending) = driver.poll(now(), cx)
            {
                *ended = Some(ending);
            }
            said.as_mut().poll(cx)
        })
        .await
    }

    fn hear(&mut self, news: TaskUpdate) {
        if news.status.is_final() {
            self.remote.cancel();
        }
        self.hand_in(news.answers);
    }

    fn hand_in(&mut self, answers: Vec<Answer>) {
        let now = now();
        for Answer { key, response, .. } in self.desk.unseen(answers) {
            self.open.remove(key.as_str());
            if !self.driver.answer(key.as_str(), response, now) {
                self.desk.ignore(key);
            }
        }
    }

    /// Puts questions to the client, or answers them in its place if it cannot
    /// be asked.
    async fn ask(&mut self, changes: Changes, keeper: &Keeper) -> Result<Option<End>, Lost> {
        for key in changes.withdrawn {
            self.open.remove(key.as_str());
        }
        let mut needed = ClientCapabilities::default();
        for question in changes.opened {
            match self.put(&question) {
                Ok(None) => {}
                Ok(Some(missing)) => gate::add(&mut needed, missing),
                Err(failure) => return Ok(Some(End::Finished(failed(&failure)))),
            }
        }
        if needed != ClientCapabilities::default() {
            let failure = Failure::Capability(Box::new(needed));
            return Ok(Some(End::Finished(failed(&failure))));
        }
        // A handler that waits for nothing else is put away with its questions at once.
        if !self.driver.is_idle() {
            let commit = self.commit();
            let news = self.meanwhile(keeper.append(commit)).await?;
            self.job.tasks.touched();
            self.hear(news);
        }
        Ok(None)
    }

    /// Puts one question; says what the client lacks if it cannot be asked.
    fn put(&mut self, question: &OpenQuestion) -> Result<Option<ClientCapabilities>, Failure> {
        let key = question.key.as_str();
        let envelope = self.request.posed().take(&question.request);
        let (Some(envelope), Ok(name)) = (envelope, Name::new(key)) else {
            return Err(Failure::Internal);
        };
        gate::check(&self.job.core, &envelope.request)?;
        match gate::missing(self.request.capabilities(), &envelope.request) {
            None => {
                let fingerprint = *question.fingerprint.as_bytes();
                let request = serde_json::to_vec(&envelope.request)
                    .expect("wire types have string keys only");
                let question = Question::new(name, fingerprint, request.into());
                self.open.insert(key.to_owned(), question);
                Ok(None)
            }
            Some(_) if envelope.has_fallback => {
                let cannot = Bytes::from_static(CANNOT_ASK);
                self.driver.answer(key, cannot, now());
                Ok(None)
            }
            missing => Ok(missing),
        }
    }

    /// Gives a task back that waits, so that it costs nothing meanwhile.
    async fn put_away(&mut self, keeper: &mut Keeper) -> Result<Option<End>, Lost> {
        let wait = self.driver.next_wake().map(|wake| wake - now());
        let linger = self.job.tasks.config.linger;
        let rest = match wait {
            Some(wait) if self.open.is_empty() && wait <= linger => {
                self.linger(wait, keeper).await?;
                return Ok(None);
            }
            None if self.open.is_empty() => {
                self.linger(linger, keeper).await?;
                return Ok(None);
            }
            Some(wait) => Passivation::For(wait),
            None => Passivation::ForAnswers,
        };
        match keeper.rest(self.commit(), rest).await? {
            Passivated::Refused(news) => {
                self.hear(news);
                Ok(None)
            }
            _ => Ok(Some(End::Parked)),
        }
    }

    /// Waits for a moment that is not worth putting the task away.
    async fn linger(&mut self, wait: Duration, keeper: &mut Keeper) -> Result<(), Lost> {
        tokio::select! {
            () = tokio::time::sleep(wait) => return Ok(()),
            () = self.job.bell.notified() => {}
            () = tokio::time::sleep_until(keeper.renew_at()) => {}
        }
        self.ask_for_news(keeper).await
    }

    fn commit(&self) -> Commit {
        self.desk.commit().asking(self.open.values().cloned())
    }

    fn end(&mut self, ending: Ending<CallToolResult, Failure>) -> End {
        for diagnostic in self.driver.take_diagnostics() {
            tracing::warn!(target: "sterna::tasks", tool = self.tool, "{diagnostic}");
        }
        match ending {
            Ending::Finished(mut result) => {
                let finished = finish_tool(&self.job.core, &self.tool, &mut result);
                End::Finished(match finished {
                    Ok(()) => self.outcome(&result),
                    Err(failure) => failed(&failure),
                })
            }
            Ending::Failed(Failure::Tool(text)) => {
                End::Finished(self.outcome(&CallToolResult::error(text)))
            }
            Ending::Failed(failure) => End::Finished(failed(&failure)),
            Ending::Cancelled => End::Finished(Outcome::Cancelled),
            Ending::Shed(_) => End::HandedOver,
            Ending::Stopped(error) => self.stopped(&error),
            _ => End::Finished(failed(&Failure::Internal)),
        }
    }

    /// What a result makes of the task: whether a tool that failed has
    /// completed its task depends on the era (TASK-S24).
    fn outcome(&self, result: &CallToolResult) -> Outcome {
        let version = &self.request.meta().protocol_version;
        let in_session = *version < ProtocolVersion::V2026_07_28;
        match result.is_error {
            Some(true) if in_session => Outcome::Failed(json(result)),
            _ => Outcome::Completed(json(result)),
        }
    }

    fn stopped(&self, error: &Error) -> End {
        if let Error::Plug {
            source: BackendError::FenceLost,
            ..
        } = error
        {
            // Nothing is written any more: giving the task back is refused, and that is fine.
            return End::Parked;
        }
        // The text may hold what a panic said; it is for the author alone.
        tracing::error!(target: "sterna::tasks", tool = self.tool, "{error}");
        match error {
            Error::Plug { .. } | Error::Transient { .. } => End::Retry,
            Error::OtherAnswers { .. } => End::Finished(failed(&Failure::State)),
            Error::StateVersion { .. } => {
                let why = "The task was begun by an earlier version of the server";
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, why);
                End::Finished(Outcome::Failed(json(&error)))
            }
            mistake => End::Finished(failed(&self.job.core.mistaken(mistake))),
        }
    }
}
