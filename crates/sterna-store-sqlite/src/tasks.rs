//! Tasks in a file.

use std::time::Duration;

use sterna_store::{
    Answer, Answered, BoxFuture, Claim, Claimed, Commit, Error, Lease, Listing, NewTask, News,
    Outcome, Page, Principal, Rest, Rested, Status, Summary, Sweep, Swept, Task, TaskId, Tasks,
    Wakeups,
};

use crate::SqliteStore;
use crate::rows;
use crate::thread::Durability;

impl Tasks for SqliteStore {
    fn create(&self, task: NewTask) -> BoxFuture<'_, Result<Summary, Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::create::create(connection, &task, now)
            })
    }

    fn read(&self, caller: Principal, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        self.read.call(Durability::Process, move |connection, _| {
            rows::read::read(connection, caller, task)
        })
    }

    fn list(&self, caller: Principal, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        self.read.call(Durability::Process, move |connection, _| {
            rows::read::list(connection, caller, page)
        })
    }

    fn answer(
        &self,
        caller: Principal,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        Box::pin(async move {
            let answered = self
                .write
                .call(Durability::Machine, move |connection, now| {
                    rows::answer::answer(connection, caller, task, &answers, now)
                });
            let answered = answered.await?;
            if answered.is_some_and(|answered| answered.accepted > 0) {
                self.bell.ring(task);
            }
            Ok(answered)
        })
    }

    fn cancel(
        &self,
        caller: Principal,
        task: TaskId,
    ) -> BoxFuture<'_, Result<Option<Status>, Error>> {
        Box::pin(async move {
            let status = self
                .write
                .call(Durability::Machine, move |connection, now| {
                    rows::end::cancel(connection, caller, task, now)
                });
            let status = status.await?;
            if status == Some(Status::Cancelled) {
                self.bell.ring(task);
            }
            Ok(status)
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        self.write
            .call(Durability::Process, move |connection, now| {
                rows::claim::claim(connection, &claim, now)
            })
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<News, Error>> {
        self.write
            .call(Durability::Process, move |connection, now| {
                rows::claim::renew(connection, lease, length, now)
            })
    }

    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<News, Error>> {
        let durability = durability(&commit);
        self.write.call(durability, move |connection, now| {
            rows::commit::append(connection, lease, &commit, now)
        })
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Rest,
    ) -> BoxFuture<'_, Result<Rested, Error>> {
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
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::end::sweep(connection, &sweep, now)
            })
    }

    fn wakeups(&self) -> Wakeups {
        self.bell.listen()
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
