//! Tasks on several shards.

use std::time::Duration;

use super::set::Shards;
use crate::{
    Answer, Answered, BoxFuture, Claim, Claimed, Commit, Cursor, Error, Lease, Listing, NewTask,
    Outcome, Owner, Page, Passivated, Passivation, Status, Summary, Sweep, Swept, Task, TaskId,
    TaskUpdate, Tasks, Wakeups,
};

impl Tasks for Shards {
    fn create(&self, mut task: NewTask) -> BoxFuture<'_, Result<Summary, Error>> {
        let shards = u32::try_from(self.rings.spread()).unwrap_or(u32::MAX);
        task.quota = task.quota.map(|quota| quota.div_ceil(shards));
        self.on(self.rings.of_task(task.id), |store| store.create(task))
    }

    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        self.on(self.rings.of_task(task), move |store| {
            store.read(caller, task)
        })
    }

    fn list(&self, caller: Owner, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        Box::pin(async move {
            let pages = self.all(|_, shard| shard.call(move |store| store.list(caller, page)));
            let mut tasks = Vec::new();
            let mut more = false;
            for page in pages.await {
                let page = page?;
                more |= page.next.is_some();
                tasks.extend(page.tasks);
            }
            let place = |task: &Summary| Cursor::new(task.created_at, task.id);
            tasks.sort_by_key(place);
            let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
            more |= tasks.len() > limit;
            tasks.truncate(limit);
            let next = tasks.last().filter(|_| more).map(place);
            Ok(Listing { tasks, next })
        })
    }

    fn answer(
        &self,
        caller: Owner,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        self.on(self.rings.of_task(task), move |store| {
            store.answer(caller, task, answers)
        })
    }

    fn cancel(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Status>, Error>> {
        self.on(self.rings.of_task(task), move |store| {
            store.cancel(caller, task)
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(self.claim_around(claim))
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        self.on(self.rings.of_task(lease.task), move |store| {
            store.renew(lease, length)
        })
    }

    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        self.on(self.rings.of_task(lease.task), move |store| {
            store.append(lease, commit)
        })
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>> {
        self.on(self.rings.of_task(lease.task), move |store| {
            store.passivate(lease, commit, rest)
        })
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        self.on(self.rings.of_task(lease.task), move |store| {
            store.finish(lease, outcome)
        })
    }

    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<Swept, Error>> {
        let limit = sweep.limit;
        let add = |sum: Swept, one: Swept| {
            Swept::new(
                sum.expired.saturating_add(one.expired),
                sum.deleted.saturating_add(one.deleted),
            )
        };
        let count = |swept: &Swept| swept.expired.max(swept.deleted);
        Box::pin(self.sweep(
            limit,
            move |store, limit| {
                let mut part = sweep.clone();
                part.limit = limit;
                store.sweep_tasks(part)
            },
            count,
            add,
        ))
    }

    fn wakeups(&self) -> Wakeups {
        Wakeups::merge(self.shards.iter().map(|shard| shard.store().wakeups()))
    }

    fn place_task(&self, id: TaskId) -> TaskId {
        TaskId::from_bytes(self.rings.mark(*id.as_bytes()))
    }
}
