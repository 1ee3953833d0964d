//! Tasks in a file.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::{
    Answer, Answered, BoxFuture, Claim, Claimed, Commit, Error, Lease, Listing, NewTask, Outcome,
    Owner, Page, Passivated, Passivation, Status, Summary, Sweep, Swept, Task, TaskId, TaskUpdate,
    Tasks, Wakeups,
};

use crate::SqliteStore;
use crate::rows;
use crate::rows::damage::Damage;
use crate::thread::Durability;

impl Tasks for SqliteStore {
    fn create(&self, task: NewTask) -> BoxFuture<'_, Result<Summary, Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::create::create(connection, &task, now)
            })
    }

    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        self.read.call(Durability::Process, move |connection, _| {
            rows::read::read(connection, caller, task)
        })
    }

    fn list(&self, caller: Owner, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        self.read.call(Durability::Process, move |connection, _| {
            rows::read::list(connection, caller, page)
        })
    }

    fn answer(
        &self,
        caller: Owner,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        Box::pin(async move {
            let answered = self
                .write
                .call(Durability::Machine, move |connection, now| {
                    rows::inbox::take_answers(connection, caller, task, &answers, now)
                });
            let answered = answered.await?;
            if answered.is_some_and(|answered| answered.accepted > 0) {
                self.wakeups.send(task);
            }
            Ok(answered)
        })
    }

    fn cancel(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Status>, Error>> {
        Box::pin(async move {
            let status = self
                .write
                .call(Durability::Machine, move |connection, now| {
                    rows::end::cancel(connection, caller, task, now)
                });
            let status = status.await?;
            if status == Some(Status::Cancelled) {
                self.wakeups.send(task);
            }
            Ok(status)
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        let clock = Arc::clone(&self.clock);
        Box::pin(async move {
            let claimed = self
                .write
                .call(Durability::Process, move |connection, now| {
                    let leases = clock.for_leases(now, claim.length);
                    rows::claim::claim(connection, &claim, now, leases)
                });
            let (claimed, damages) = claimed.await?;
            damages.iter().for_each(Damage::report);
            Ok(claimed)
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        self.write
            .call(Durability::Process, move |connection, now| {
                rows::claim::renew(connection, lease, length, now)
            })
    }

    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        let durability = durability(&commit);
        self.write.call(durability, move |connection, now| {
            rows::commit::append(connection, lease, &commit, now)
        })
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>> {
        let durability = durability(&commit);
        self.write.call(durability, move |connection, now| {
            rows::commit::passivate(connection, lease, &commit, rest, now)
        })
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::end::finish(connection, lease, &outcome, now)
            })
    }

    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<Swept, Error>> {
        Box::pin(async move {
            let swept = self
                .write
                .call(Durability::Machine, move |connection, now| {
                    rows::end::sweep(connection, &sweep, now)
                });
            let (swept, damages) = swept.await?;
            damages.iter().for_each(Damage::report);
            Ok(swept)
        })
    }

    fn wakeups(&self) -> Wakeups {
        self.wakeups.listen()
    }
}

/// A question that a client has seen must not be forgotten: another one could
/// otherwise get its key.
fn durability(commit: &Commit) -> Durability {
    match commit.open.as_deref() {
        Some([_, ..]) => Durability::Machine,
        Some([]) | None => Durability::Process,
    }
}
