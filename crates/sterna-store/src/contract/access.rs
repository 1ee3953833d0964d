//! Whose task it is.

use super::Subject;
use super::case::{Broken, cases, same};
use super::fixture::{CALLER, STRANGER, answer, id, new_task, question};
use crate::{Commit, Page, Status, Tasks};

cases! { dyn Tasks:
    a_foreign_task_looks_like_an_unknown_one,
    a_stranger_changes_nothing,
    a_list_shows_only_the_callers_tasks,
}

async fn a_foreign_task_looks_like_an_unknown_one(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    let answers = || vec![answer("go", "yes")];
    for unknown in [id(1), id(2)] {
        same(store.read(STRANGER, unknown).await?, None)?;
        same(store.answer(STRANGER, unknown, answers()).await?, None)?;
        same(store.cancel(STRANGER, unknown).await?, None)?;
    }
    same(store.read(CALLER, id(2)).await?, None)?;
    same(store.answer(CALLER, id(2), answers()).await?, None)?;
    same(store.cancel(CALLER, id(2)).await?, None)
}

async fn a_stranger_changes_nothing(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    store
        .answer(STRANGER, id(1), vec![answer("go", "yes")])
        .await?;
    store.cancel(STRANGER, id(1)).await?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::InputRequired)?;
    same(task.questions, vec![question("go")])
}

async fn a_list_shows_only_the_callers_tasks(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..6 {
        let mut new = new_task(number);
        if number % 2 == 1 {
            new.principal = STRANGER;
        }
        store.create(new).await?;
    }
    let mine = store.list(CALLER, Page::first(2)).await?;
    let cursor = mine
        .next
        .ok_or_else(|| Broken::new("a third task is missing"))?;
    let rest = store.list(CALLER, Page::after(cursor, 2)).await?;
    same(rest.tasks.len(), 1)?;
    same(rest.next, None)?;
    // A cursor is no key: another caller sees their own tasks after it.
    let theirs = store.list(STRANGER, Page::after(cursor, 10)).await?;
    let all = store.list(STRANGER, Page::first(10)).await?;
    same(all.tasks.len(), 3)?;
    let foreign = theirs.tasks.iter().filter(|task| !all.tasks.contains(task));
    same(foreign.count(), 0)
}
