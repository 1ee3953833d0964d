//! Asks the client of a task by rows of the store.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use sterna_flow::{Diagnostic, Key, OpenQuestion, UnixMillis};
use sterna_http::Shutdown;
use sterna_runner::{Admit, Delivery, Flow, Gate, Next};
use sterna_store::{
    Answer, BoxFuture, Commit, Name, Passivated, Passivation, Question, TaskUpdate,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Tasks;
use super::desk::Desk;
use super::job::{Job, failed};
use super::keeper::{Keeper, Lost};
use super::run::End;
use crate::call::Request;
use crate::core::Core;
use crate::cx::Envelope;
use crate::failure::Failure;
use crate::rounds::gate::Lacking;
use crate::rounds::now;

/// Sends questions as rows of the store, and reads answers with the next commit
/// or renewal.
///
/// It has at most one operation of its own on the store under way. The flow is
/// polled beside it, because a commit of the flow may hold the row that the
/// operation waits for. The flow's clock stands still meanwhile: an answer that
/// the operation brings counts before a deadline that passes meanwhile.
pub(super) struct TaskDelivery<'a> {
    core: &'a Core,
    tasks: &'a Arc<Tasks>,
    tool: &'a str,
    request: &'a Request,
    shared: &'a Desk,
    bell: &'a Arc<Notify>,
    shutdown: &'a Shutdown,
    keeper: &'a mut Keeper,
    lacking: Lacking,
    questions: Questions,
    operation: Option<Operation>,
    /// Resolves when the store is to be asked for news or the task is to be
    /// left.
    signal: Option<BoxFuture<'static, Signal>>,
    /// Time at which a task that does not stop is left. Set when the server
    /// shuts down.
    leave_at: Option<Instant>,
}

/// Ends the run of a task.
pub(super) enum Stop {
    Exit(End),
    Lost(Lost),
}

impl From<Lost> for Stop {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

/// Operation of a delivery on the store.
struct Operation {
    /// Time of the flow while the operation is under way.
    began_at: UnixMillis,
    /// Decision about the flow while the operation is under way.
    meanwhile: Next,
    done: BoxFuture<'static, Result<Done, Lost>>,
}

/// Result of an [`Operation`].
enum Done {
    Appended(TaskUpdate),
    Passivated(Passivated),
    /// The lease as it is now, and the news unless the store could not be
    /// reached.
    Renewed(Box<Keeper>, Option<TaskUpdate>),
}

#[derive(Clone, Copy)]
enum Signal {
    Leave,
    Renew,
}

impl<'a> TaskDelivery<'a> {
    pub(super) fn new(
        job: &'a Job,
        tool: &'a str,
        request: &'a Request,
        shared: &'a Desk,
        keeper: &'a mut Keeper,
        open: BTreeMap<String, Question>,
    ) -> Self {
        Self {
            core: &job.core,
            tasks: &job.tasks,
            tool,
            request,
            shared,
            bell: &job.bell,
            shutdown: &job.shutdown,
            keeper,
            lacking: Lacking::default(),
            questions: Questions::new(open),
            operation: None,
            signal: None,
            leave_at: None,
        }
    }

    /// Hands in the answers of `update`, and ends a flow whose task has ended.
    pub(super) fn hear(&mut self, update: TaskUpdate, flow: &mut dyn Flow) {
        if update.status.is_final() {
            flow.cancel();
        }
        let at = self.now();
        for Answer { key, response, .. } in self.shared.unseen(update.answers) {
            self.questions.answered(key.as_str());
            if !flow.answer(key.as_str(), response, at) {
                self.shared.ignore(key);
            }
        }
    }

    fn failure(failure: &Failure) -> Stop {
        Stop::Exit(End::Finished(failed(failure)))
    }

    fn begin(&mut self, meanwhile: Next, done: BoxFuture<'static, Result<Done, Lost>>) {
        self.operation = Some(Operation {
            began_at: now(),
            meanwhile,
            done,
        });
    }

    fn begin_renewal(&mut self) {
        let mut keeper = Box::new(self.keeper.clone());
        let done = async move {
            let update = keeper.renew().await?;
            Ok(Done::Renewed(keeper, update))
        };
        self.begin(Next::Wait, Box::pin(done));
    }

    fn begin_append(&mut self) {
        let (keeper, commit) = (self.keeper.clone(), self.commit());
        let done = async move { keeper.append(commit).await.map(Done::Appended) };
        self.begin(Next::Wait, Box::pin(done));
    }

    /// Gives the task back. Its flow is held: what it wrote now would be
    /// written under a lease that is no longer its own.
    fn begin_passivation(&mut self, passivation: Passivation) {
        let (keeper, commit) = (self.keeper.clone(), self.commit());
        let done = async move { keeper.rest(commit, passivation).await.map(Done::Passivated) };
        self.begin(Next::Hold, Box::pin(done));
    }

    fn commit(&mut self) -> Commit {
        let questions = self.questions.write();
        self.shared.commit().asking(questions)
    }

    /// Begins what the flow's questions or its idleness call for; `false` if
    /// there is nothing to be written.
    fn begin_next(&mut self, flow: &dyn Flow) -> bool {
        let idle = flow.is_idle();
        if idle {
            self.questions.settle();
            let wait = flow.next_wake().map(|wake| wake - now());
            let asking = !self.questions.is_empty();
            let passivation = match wait {
                Some(wait) if asking || wait > self.tasks.config.linger => {
                    Some(Passivation::For(wait))
                }
                None if asking => Some(Passivation::ForAnswers),
                _ => None,
            };
            if let Some(passivation) = passivation {
                // Questions of a flow that waits for nothing else are written with it.
                self.begin_passivation(passivation);
                return true;
            }
        }
        if self.questions.changed {
            self.begin_append();
            return true;
        }
        false
    }

    fn completed(&mut self, done: Done, flow: &mut dyn Flow) -> Result<(), Stop> {
        match done {
            Done::Appended(update) => {
                self.tasks.touched();
                self.hear(update, flow);
            }
            Done::Passivated(Passivated::Refused(update)) => self.hear(update, flow),
            Done::Passivated(_) => return Err(Stop::Exit(End::Parked)),
            Done::Renewed(keeper, update) => {
                *self.keeper = *keeper;
                if let Some(update) = update {
                    self.hear(update, flow);
                }
            }
        }
        Ok(())
    }

    /// Polls the signal for the time at which the lease is renewed, for the
    /// bell and for the shutdown, in that order.
    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<Signal> {
        let (renew_at, leave_at) = (self.keeper.renew_at(), self.leave_at);
        let signal = self.signal.get_or_insert_with(|| {
            let (bell, shutdown) = (Arc::clone(self.bell), self.shutdown.clone());
            Box::pin(async move {
                let leave = async {
                    match leave_at {
                        None => shutdown.begun().await,
                        Some(at) => tokio::time::sleep_until(at).await,
                    }
                };
                tokio::select! {
                    biased;
                    () = tokio::time::sleep_until(renew_at) => Signal::Renew,
                    () = bell.notified() => Signal::Renew,
                    () = leave => Signal::Leave,
                }
            })
        });
        let polled = Pin::new(signal).poll(cx);
        if polled.is_ready() {
            self.signal = None;
        }
        polled
    }
}

impl Gate<OpenQuestion> for TaskDelivery<'_> {
    type Question = Box<Envelope>;
    type Error = Stop;

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<Box<Envelope>>, Stop> {
        let admitted = self.lacking.admit(self.core, self.request, question);
        admitted.map_err(|failure| Self::failure(&failure))
    }

    fn lacking(&mut self) -> Option<Stop> {
        let failure = self.lacking.failure()?;
        Some(Self::failure(&failure))
    }

    fn send(&mut self, open: &OpenQuestion, question: Box<Envelope>) -> Result<(), Stop> {
        let key = open.key.as_str();
        let name = Name::new(key).map_err(|_| Self::failure(&Failure::Internal))?;
        let request =
            serde_json::to_vec(&question.request).expect("wire types have string keys only");
        let fingerprint = *open.fingerprint.as_bytes();
        let question = Question::new(name, fingerprint, request.into());
        self.questions.ask(key, question);
        Ok(())
    }
}

impl Delivery for TaskDelivery<'_> {
    const SENDS_WHILE_RUNNING: bool = true;

    fn now(&self) -> UnixMillis {
        let operation = self.operation.as_ref();
        operation.map_or_else(now, |operation| operation.began_at)
    }

    fn misuse(&self) -> Option<Stop> {
        let mistake = self.request.mistake()?;
        tracing::error!(target: "sterna::tasks", tool = self.tool, "MR0201: {mistake}");
        let mistake = format_args!("MR0201: {mistake}");
        Some(Self::failure(&self.core.mistaken(mistake)))
    }

    fn report(&self, diagnostic: Diagnostic) {
        tracing::warn!(target: "sterna::tasks", tool = self.tool, "{diagnostic}");
    }

    fn receive(&mut self, flow: &mut dyn Flow) -> bool {
        let update = self.shared.take_news();
        let received = update.is_some();
        if let Some(update) = update {
            self.hear(update, flow);
        }
        received
    }

    fn withdraw(&mut self, key: &Key) {
        self.questions.withdraw(key.as_str());
    }

    fn poll(&mut self, flow: &mut dyn Flow, cx: &mut Context<'_>) -> Result<Next, Stop> {
        loop {
            if let Some(operation) = &mut self.operation {
                let Poll::Ready(done) = operation.done.as_mut().poll(cx) else {
                    return Ok(operation.meanwhile);
                };
                // Answers count as of the time at which the operation began.
                self.completed(done?, flow)?;
                self.operation = None;
                return Ok(Next::Poll);
            }
            if self.begin_next(flow) {
                continue;
            }
            match self.poll_signal(cx) {
                Poll::Pending => return Ok(Next::Wait),
                Poll::Ready(Signal::Renew) => self.begin_renewal(),
                Poll::Ready(Signal::Leave) if self.leave_at.is_some() => {
                    return Err(Stop::Exit(End::HandedOver));
                }
                // A step that runs has some time left to come to an end.
                Poll::Ready(Signal::Leave) => {
                    self.leave_at = Some(Instant::now() + self.tasks.config.drain);
                    flow.shed();
                    return Ok(Next::Poll);
                }
            }
        }
    }

    fn poll_settled(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Stop>> {
        let Some(operation) = &mut self.operation else {
            return Poll::Ready(Ok(()));
        };
        let settled = operation.done.as_mut().poll(cx);
        settled.map(|done| {
            self.operation = None;
            if let Done::Renewed(keeper, _) = done? {
                *self.keeper = *keeper;
            }
            Ok(())
        })
    }
}

/// Questions that the client is asked, as the store is to know them.
struct Questions {
    open: BTreeMap<String, (Question, Origin)>,
    /// The store does not know them yet.
    changed: bool,
}

/// Run that has asked a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// An earlier one, and this one has not been seen without it.
    Earlier,
    /// An earlier one. This one has been at rest without asking it: it has not
    /// come to the question yet, or asks it no more.
    Unreached,
    ThisRun,
}

impl Questions {
    fn new(open: BTreeMap<String, Question>) -> Self {
        let open = open.into_iter();
        Self {
            open: open
                .map(|(key, question)| (key, (question, Origin::Earlier)))
                .collect(),
            changed: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn ask(&mut self, key: &str, question: Question) {
        let asked = (question, Origin::ThisRun);
        // A question of an earlier run is in the store.
        self.changed |= self.open.insert(key.to_owned(), asked).is_none();
    }

    /// Takes a question back; one of an earlier run not before the flow is
    /// idle. A replay that is held up comes to it later, and an answer that
    /// the client gives meanwhile must count.
    fn withdraw(&mut self, key: &str) {
        match self.open.get_mut(key) {
            Some((_, Origin::ThisRun)) => {
                self.open.remove(key);
                self.changed = true;
            }
            Some((_, origin)) => *origin = Origin::Unreached,
            None => {}
        }
    }

    /// Takes back the questions that an idle flow does not ask.
    fn settle(&mut self) {
        let before = self.open.len();
        self.open
            .retain(|_, (_, origin)| *origin != Origin::Unreached);
        self.changed |= self.open.len() < before;
    }

    fn answered(&mut self, key: &str) {
        self.open.remove(key);
    }

    /// Returns the questions for a commit that makes them known.
    fn write(&mut self) -> Vec<Question> {
        self.changed = false;
        let open = self.open.values();
        open.map(|(question, _)| question.clone()).collect()
    }
}
