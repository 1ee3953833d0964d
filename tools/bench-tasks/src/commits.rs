//! The verbs of a store, without a server around it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use bytes::Bytes;
use sterna_store::{
    Claim, Commit, Entry, Error, FlowId, Lease, Name, NewTask, Outcome, Owner, Store, TaskId,
};
use tokio::task::JoinSet;

use crate::report;

pub(crate) const VALUE: Bytes = Bytes::from_static(&[0x61; 500]);

pub(crate) async fn measure(store: Arc<dyn Store>, tasks: u32, callers: u32) -> Result<()> {
    let name = Name::new("bench")?;
    let since = Instant::now();
    let target = name.clone();
    each(tasks, callers, &store, move |store, number| {
        let target = target.clone();
        async move { store.create(task(number, target)).await.map(drop) }
    })
    .await?;
    report(&format!("create, {callers} at once"), tasks, since);

    let since = Instant::now();
    let leases = Arc::new(claim_all(&*store, &name, Duration::from_secs(3600)).await?);
    report("claim, 10 at a time", tasks, since);

    let since = Instant::now();
    let held = Arc::clone(&leases);
    each(tasks, callers, &store, move |store, number| {
        let lease = held[usize::try_from(number).unwrap_or(0)];
        let commit = Commit::of([Entry::new(name.clone(), VALUE)]);
        async move { store.append(lease, commit).await.map(drop) }
    })
    .await?;
    report(&format!("append a step, {callers} at once"), tasks, since);

    let since = Instant::now();
    each(tasks, callers, &store, move |store, number| {
        let lease = leases[usize::try_from(number).unwrap_or(0)];
        async move {
            store
                .finish(lease, Outcome::Completed(VALUE))
                .await
                .map(drop)
        }
    })
    .await?;
    report(&format!("finish, {callers} at once"), tasks, since);
    Ok(())
}

/// Claims whatever there is, for `length`.
async fn claim_all(
    store: &dyn Store,
    worker: &Name,
    length: Duration,
) -> Result<Vec<Lease>, Error> {
    let mut wish = Claim::new(worker.clone(), length);
    wish.limit = 10;
    let mut leases = Vec::new();
    loop {
        let claimed = store.claim(wish.clone()).await?;
        if claimed.is_empty() {
            return Ok(leases);
        }
        leases.extend(claimed.into_iter().map(|claimed| claimed.lease));
    }
}

/// Does `work` for every task, `callers` at a time.
async fn each<F>(
    tasks: u32,
    callers: u32,
    store: &Arc<dyn Store>,
    work: impl Fn(Arc<dyn Store>, u32) -> F + Clone + Send + 'static,
) -> Result<()>
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let mut set = JoinSet::new();
    for caller in 0..callers {
        let (store, work) = (Arc::clone(store), work.clone());
        set.spawn(async move {
            let mut number = caller;
            while number < tasks {
                work(Arc::clone(&store), number).await?;
                number += callers;
            }
            Ok::<_, Error>(())
        });
    }
    for done in set.join_all().await {
        done?;
    }
    Ok(())
}

pub(crate) fn task(number: u32, target: Name) -> NewTask {
    let mut bytes = [0; 16];
    let spread = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes[..8].copy_from_slice(&spread.to_be_bytes());
    let (id, flow) = (TaskId::from_bytes(bytes), FlowId::from_bytes(bytes));
    NewTask::new(id, Owner::from_digest([1; 32]), flow, target, VALUE)
}
