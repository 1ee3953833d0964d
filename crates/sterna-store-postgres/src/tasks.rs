//! Tasks in a database.

use std::time::Duration;

use sterna_store::{
    Answer, Answered, BoxFuture, Claim, Claimed, Commit, Error, Lease, Listing, NewTask, News,
    Outcome, Page, Principal, Rest, Rested, Status, Summary, Sweep, Swept, Task, TaskId, Tasks,
    Wakeups,
};

use crate::PostgresStore;
use crate::rows::answer::Tell;
use crate::rows::claim::Renew;
use crate::rows::commit::{Append, Passivate};
use crate::rows::end::{Cancel, Finish};
use crate::rows::read::{List, Read};

impl Tasks for PostgresStore {
    fn create(&self, task: NewTask) -> BoxFuture<'_, Result<Summary, Error>> {
        self.run(task)
    }

    fn read(&self, caller: Principal, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        self.run(Read { caller, task })
    }

    fn list(&self, caller: Principal, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        self.run(List { caller, page })
    }

    fn answer(
        &self,
        caller: Principal,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        Box::pin(async move {
            let answered = self.run(Tell {
                caller,
                task,
                answers,
                channel: self.schema().as_str().to_owned(),
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
            let status = self.run(Cancel {
                caller,
                task,
                channel: self.schema().as_str().to_owned(),
            });
            let status = status.await?;
            if status == Some(Status::Cancelled) {
                self.bell.ring(task);
            }
            Ok(status)
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        self.run(claim)
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<News, Error>> {
        self.run(Renew { lease, length })
    }

    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<News, Error>> {
        self.run(Append { lease, commit })
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Rest,
    ) -> BoxFuture<'_, Result<Rested, Error>> {
        self.run(Passivate {
            lease,
            commit,
            rest,
        })
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        self.run(Finish { lease, outcome })
    }

    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<Swept, Error>> {
        self.run(sweep)
    }

    fn wakeups(&self) -> Wakeups {
        self.bell.listen()
    }
}
