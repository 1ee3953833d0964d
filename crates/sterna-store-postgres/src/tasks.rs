//! Tasks in a database.

use std::time::Duration;

use sterna_store::{
    Answer, Answered, BoxFuture, Claim, Claimed, Commit, Error, Lease, Listing, NewTask, Outcome,
    Owner, Page, Passivated, Passivation, Status, Summary, Sweep, Swept, Task, TaskId, TaskUpdate,
    Tasks, Wakeups,
};

use crate::PostgresStore;
use crate::group::Pending;
use crate::rows::claim::Renew;
use crate::rows::commit::{Append, Passivate};
use crate::rows::damage::Damage;
use crate::rows::end::{Cancel, Finish};
use crate::rows::inbox::WriteAnswers;
use crate::rows::read::{List, Read};

impl Tasks for PostgresStore {
    fn create(&self, task: NewTask) -> BoxFuture<'_, Result<Summary, Error>> {
        self.run_shared(&self.creations, |tell| Pending::new(task, tell))
    }

    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        let read = Read { caller, task };
        self.run_shared(&self.reads, |tell| Pending::new(read, tell))
    }

    fn list(&self, caller: Owner, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        self.run(List { caller, page })
    }

    fn answer(
        &self,
        caller: Owner,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        Box::pin(async move {
            let answered = self.change(WriteAnswers {
                caller,
                task,
                answers,
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
            let status = self.change(Cancel { caller, task });
            let status = status.await?;
            if status == Some(Status::Cancelled) {
                self.wakeups.send(task);
            }
            Ok(status)
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async move {
            let (claimed, damages) = self.run(claim).await?;
            damages.iter().for_each(Damage::report);
            Ok(claimed)
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        self.change(Renew { lease, length })
    }

    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        self.change(Append { lease, commit })
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>> {
        self.change(Passivate {
            lease,
            commit,
            rest,
        })
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        self.change(Finish { lease, outcome })
    }

    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<Swept, Error>> {
        Box::pin(async move {
            let (swept, damages) = self.run(sweep).await?;
            damages.iter().for_each(Damage::report);
            Ok(swept)
        })
    }

    fn wakeups(&self) -> Wakeups {
        self.wakeups.listen()
    }
}
