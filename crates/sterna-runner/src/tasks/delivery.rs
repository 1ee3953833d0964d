//! Asks the client of a task by rows of the store.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use sterna_flow::{Diagnostic, Key, OpenQuestion, UnixMillis};
use sterna_store::{
    Answer, BoxFuture, Commit, Name, Outcome, Passivated, Passivation, Question, TaskUpdate,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::host::{TaskHost, TaskProtocol};
use super::lease::{LeaseKeeper, LeaseLost};
use super::questions::Questions;
use super::worker::TaskWorker;
use super::{TaskQueue, TaskShared, WorkerExit};
use crate::delivery::{Admit, Delivery, Flow, Gate, Next};

/// Sends questions as rows of the store, and reads answers with the next commit
/// or renewal.
///
/// It has at most one operation of its own on the store under way. The flow is
/// polled beside it, because a commit of the flow may hold the row that the
/// operation waits for. The flow's clock stands still meanwhile: an answer that
/// the operation brings counts before a deadline that passes meanwhile.
pub(super) struct TaskDelivery<'a, H, P> {
    host: &'a Arc<H>,
    queue: &'a TaskQueue,
    bell: &'a Arc<Notify>,
    shared: &'a TaskShared,
    protocol: &'a mut P,
    keeper: &'a mut LeaseKeeper,
    questions: Questions,
    operation: Option<Operation>,
    /// Resolves when the store is to be asked for answers or the task is to be
    /// left.
    signal: Option<BoxFuture<'static, Signal>>,
    /// Time between the shutdown and `leave_at`.
    drain: Duration,
    /// Time at which a task that does not stop is left. Set when the server
    /// shuts down.
    leave_at: Option<Instant>,
}

/// Ends the run of a task.
pub(super) enum Stop {
    Exit(WorkerExit),
    Lost(LeaseLost),
}

impl From<LeaseLost> for Stop {
    fn from(lost: LeaseLost) -> Self {
        Self::Lost(lost)
    }
}

/// Operation of a delivery on the store.
struct Operation {
    /// Time of the flow while the operation is under way.
    began_at: UnixMillis,
    /// Decision about the flow while the operation is under way.
    meanwhile: Next,
    done: BoxFuture<'static, Result<Done, LeaseLost>>,
}

/// Result of an [`Operation`].
enum Done {
    Appended(TaskUpdate),
    Passivated(Passivated),
    /// The lease as it is now, and the news unless the store could not be
    /// reached.
    Renewed(Box<LeaseKeeper>, Option<TaskUpdate>),
}

#[derive(Clone, Copy)]
enum Signal {
    Leave,
    Renew,
}

impl<'a, H: TaskHost, P: TaskProtocol> TaskDelivery<'a, H, P> {
    pub(super) fn new(
        worker: &'a TaskWorker<H>,
        shared: &'a TaskShared,
        protocol: &'a mut P,
        keeper: &'a mut LeaseKeeper,
    ) -> Self {
        Self {
            host: &worker.host,
            queue: &worker.queue,
            bell: &worker.bell,
            shared,
            protocol,
            keeper,
            questions: Questions::of(&worker.claimed),
            operation: None,
            signal: None,
            drain: worker.drain,
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

    fn begin(&mut self, meanwhile: Next, done: BoxFuture<'static, Result<Done, LeaseLost>>) {
        self.operation = Some(Operation {
            began_at: self.host.now(),
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
        let done = async move {
            keeper
                .passivate(commit, passivation)
                .await
                .map(Done::Passivated)
        };
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
            let wait = flow.next_wake().map(|wake| wake - self.host.now());
            let asking = !self.questions.is_empty();
            let passivation = match wait {
                Some(wait) if asking || wait > self.queue.config.linger => {
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
        if self.questions.have_changed() {
            self.begin_append();
            return true;
        }
        false
    }

    fn completed(&mut self, done: Done, flow: &mut dyn Flow) -> Result<(), Stop> {
        match done {
            Done::Appended(update) => {
                self.queue.notify_changed(self.shared.task());
                self.hear(update, flow);
            }
            Done::Passivated(Passivated::Refused(update)) => self.hear(update, flow),
            Done::Passivated(_) => return Err(Stop::Exit(WorkerExit::Passivated)),
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
            let (bell, shutdown) = (Arc::clone(self.bell), self.host.shutdown());
            Box::pin(async move {
                let leave = async {
                    match leave_at {
                        None => shutdown.await,
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

impl<H: TaskHost, P: TaskProtocol> Gate<OpenQuestion> for TaskDelivery<'_, H, P> {
    type Question = Bytes;
    type Error = Stop;

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<Bytes>, Stop> {
        self.protocol.admit(question).map_err(finished)
    }

    fn lacking(&mut self) -> Option<Stop> {
        self.protocol.lacking().map(finished)
    }

    fn send(&mut self, open: &OpenQuestion, question: Bytes) -> Result<(), Stop> {
        let key = open.key.as_str();
        let name = Name::new(key).map_err(|_| finished(self.protocol.broken()))?;
        let question = Question::new(name, *open.fingerprint.as_bytes(), question);
        self.questions.ask(key, question);
        Ok(())
    }
}

fn finished(outcome: Outcome) -> Stop {
    Stop::Exit(WorkerExit::Finished(outcome))
}

impl<H: TaskHost, P: TaskProtocol> Delivery for TaskDelivery<'_, H, P> {
    const SENDS_WHILE_RUNNING: bool = true;

    fn now(&self) -> UnixMillis {
        let operation = self.operation.as_ref();
        operation.map_or_else(|| self.host.now(), |operation| operation.began_at)
    }

    fn misuse(&self) -> Option<Stop> {
        self.protocol.misuse().map(finished)
    }

    fn report(&self, diagnostic: Diagnostic) {
        self.protocol.report(diagnostic);
    }

    fn receive(&mut self, flow: &mut dyn Flow) -> bool {
        let update = self.shared.take_update();
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
                    return Err(Stop::Exit(WorkerExit::HandedOver));
                }
                // A step that runs has some time left to come to an end.
                Poll::Ready(Signal::Leave) => {
                    self.leave_at = Some(Instant::now() + self.drain);
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
