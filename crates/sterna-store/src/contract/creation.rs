//! Tasks begin.

use std::collections::BTreeSet;

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{CALLER, HOUR, STRANGER, bytes, entry, flow, id, name, new_task, together};
use crate::{Cursor, ErrorKind, NewTask, Note, Outcome, Page, Status, Tasks};

cases! { dyn Tasks:
    a_created_task_can_be_read_at_once,
    a_created_task_waits_for_a_worker,
    creating_a_task_again_changes_nothing,
    a_task_created_twice_at_once_exists_once,
    a_task_id_belongs_to_the_owner_who_used_it_first,
    a_task_may_bring_its_journal_along,
    a_journal_that_contradicts_itself_is_refused,
    a_list_goes_on_where_it_stopped,
    an_owner_has_no_more_unfinished_tasks_than_its_quota,
}

async fn a_created_task_can_be_read_at_once(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    new.note = Some(Note::new("starting"));
    let created = subject.store().create(new).await?;
    let task = subject.seen(1).await?;
    same(&task.summary, &created)?;
    same(created.id, id(1))?;
    same(created.target, name("deploy"))?;
    same(created.status, Status::Working)?;
    same(created.note, Some(Note::new("starting")))?;
    same(created.updated_at, created.created_at)?;
    same(created.expires_at, Some(created.created_at + HOUR))?;
    same(task.questions, Vec::new())?;
    same(task.outcome, None)
}

async fn a_created_task_waits_for_a_worker(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let created = subject.store().create(new_task(1)).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.summary, created)?;
    same(claimed.flow, flow(1))?;
    same(claimed.request, bytes("request"))?;
    same(claimed.journal, Vec::new())?;
    same(claimed.answers, Vec::new())?;
    same(claimed.attempt, 1)
}

async fn creating_a_task_again_changes_nothing(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let first = subject.store().create(new_task(1)).await?;
    let lease = subject.claimed(1).await?.lease;
    let second = subject.store().create(new_task(1)).await?;
    same(second, first)?;
    subject.idle().await?;
    subject.store().renew(lease, HOUR).await?;
    Ok(())
}

async fn a_task_created_twice_at_once_exists_once(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let store = subject.store();
    let created = together((0..8).map(|_| store.create(new_task(1))).collect()).await;
    for summary in created {
        same(summary?.id, id(1))?;
    }
    subject.claimed(1).await?;
    same(store.list(CALLER, Page::first(10)).await?.tasks.len(), 1)
}

async fn a_task_id_belongs_to_the_owner_who_used_it_first(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    subject.store().create(new_task(1)).await?;
    let stolen = NewTask::new(id(1), STRANGER, flow(2), name("other"), bytes("other"));
    refused(subject.store().create(stolen).await, ErrorKind::Conflict)?;
    same(subject.claimed(1).await?.request, bytes("request"))
}

async fn a_task_may_bring_its_journal_along(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.journal = vec![entry("z", "1"), entry("a", "2")];
    subject.store().create(new).await?;
    let journal = subject.claimed(1).await?.journal;
    same(journal, vec![entry("z", "1"), entry("a", "2")])
}

async fn a_journal_that_contradicts_itself_is_refused(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.journal = vec![entry("a", "1"), entry("b", "2"), entry("a", "3")];
    refused(
        subject.store().create(new.clone()).await,
        ErrorKind::Conflict,
    )?;
    same(subject.store().read(CALLER, id(1)).await?, None)?;
    new.journal[2] = entry("a", "1");
    subject.store().create(new).await?;
    let journal = subject.claimed(1).await?.journal;
    same(journal, vec![entry("a", "1"), entry("b", "2")])
}

async fn a_list_goes_on_where_it_stopped(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    for number in 0..7 {
        subject.store().create(new_task(number)).await?;
    }
    let mut seen = Vec::new();
    let mut page = Page::first(3);
    for _ in 0..7 {
        let listing = subject.store().list(CALLER, page).await?;
        seen.extend(listing.tasks.into_iter().map(|task| task.id));
        let Some(next) = listing.next else { break };
        let next: Cursor = next
            .to_string()
            .parse()
            .map_err(|_| Broken::new("a cursor does not survive its own text"))?;
        page = Page::after(next, 3);
    }
    same(seen.len(), 7)?;
    same(
        seen.into_iter().collect::<BTreeSet<_>>(),
        (0..7).map(id).collect(),
    )
}

async fn an_owner_has_no_more_unfinished_tasks_than_its_quota(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let store = subject.store();
    let limited = |number, owner| {
        let mut new = new_task(number);
        new.principal = owner;
        new.quota = Some(2);
        new
    };
    store.create(limited(1, CALLER)).await?;
    let lease = subject.claimed(1).await?.lease;
    store.create(limited(2, CALLER)).await?;
    refused(store.create(limited(3, CALLER)).await, ErrorKind::Quota)?;
    same(store.read(CALLER, id(3)).await?, None)?;
    // A task that is there is shown again, and others are not affected.
    store.create(limited(2, CALLER)).await?;
    store.create(limited(4, STRANGER)).await?;
    // One that has ended does not count.
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    store.create(limited(5, CALLER)).await?;
    refused(store.create(limited(6, CALLER)).await, ErrorKind::Quota)?;
    let mut free = new_task(7);
    free.quota = None;
    store.create(free).await?;
    Ok(())
}
