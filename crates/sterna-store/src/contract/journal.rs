//! Cases about the journal: committed entries stay.

use std::time::Duration;

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{CALLER, LEASE, MINUTE, answer, entry, id, new_task, question};
use crate::{Commit, ErrorKind, Note, Outcome, Passivation, Summary, Tasks};

cases! { dyn Tasks:
    entries_come_back_in_the_order_they_were_appended,
    appending_an_entry_again_is_harmless,
    a_key_never_gets_a_second_value,
    a_refused_commit_leaves_nothing_behind,
    a_note_is_shown_until_the_next,
    what_a_client_can_see_change_is_dated,
}

async fn entries_come_back_in_the_order_they_were_appended(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.journal = vec![entry("m", "0")];
    subject.store().create(new).await?;
    let lease = subject.claimed(1).await?.lease;
    let store = subject.store();
    store
        .append(lease, Commit::of([entry("z", "1"), entry("a", "2")]))
        .await?;
    store.append(lease, Commit::of([entry("k", "3")])).await?;
    store
        .passivate(lease, Commit::of([entry("b", "4")]), Passivation::HandOver)
        .await?;
    let keys: Vec<_> = subject.claimed(1).await?.journal;
    let wanted = [("m", "0"), ("z", "1"), ("a", "2"), ("k", "3"), ("b", "4")];
    same(keys, wanted.map(|(key, value)| entry(key, value)).to_vec())
}

async fn appending_an_entry_again_is_harmless(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let commit = Commit::of([entry("a", "1"), entry("b", "2")]);
    subject.store().append(lease, commit.clone()).await?;
    subject.store().append(lease, commit).await?;
    let longer = Commit::of([entry("b", "2"), entry("c", "3"), entry("c", "3")]);
    subject.store().append(lease, longer).await?;
    subject.advance(LEASE * 2).await?;
    let journal = subject.claimed(1).await?.journal;
    same(
        journal,
        vec![entry("a", "1"), entry("b", "2"), entry("c", "3")],
    )
}

async fn a_key_never_gets_a_second_value(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store.append(lease, Commit::of([entry("a", "1")])).await?;
    let second = store.append(lease, Commit::of([entry("a", "2")])).await;
    refused(second, ErrorKind::Conflict)?;
    let at_once = Commit::of([entry("b", "1"), entry("b", "2")]);
    refused(store.append(lease, at_once).await, ErrorKind::Conflict)?;
    let resting = Commit::of([entry("a", "2")]);
    let rested = store.passivate(lease, resting, Passivation::HandOver).await;
    refused(rested, ErrorKind::Conflict)?;
    subject.advance(LEASE * 2).await?;
    same(subject.claimed(1).await?.journal, vec![entry("a", "1")])
}

async fn a_refused_commit_leaves_nothing_behind(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store.append(lease, Commit::of([entry("a", "1")])).await?;
    let mut mixed = Commit::of([entry("b", "2"), entry("a", "2")]);
    mixed.note = Some(Note::new("never"));
    refused(store.append(lease, mixed).await, ErrorKind::Conflict)?;
    same(subject.seen(1).await?.summary.note, None)?;
    store.append(lease, Commit::of([entry("b", "3")])).await?;
    subject.advance(LEASE * 2).await?;
    let journal = subject.claimed(1).await?.journal;
    same(journal, vec![entry("a", "1"), entry("b", "3")])
}

async fn a_note_is_shown_until_the_next(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let mut noting = Commit::of([entry("a", "1")]);
    noting.note = Some(Note::new("half way"));
    subject.store().append(lease, noting).await?;
    subject
        .store()
        .append(lease, Commit::of([entry("b", "2")]))
        .await?;
    same(
        subject.seen(1).await?.summary.note,
        Some(Note::new("half way")),
    )
}

async fn what_a_client_can_see_change_is_dated(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let mut noting = Commit::of([]);
    noting.note = Some(Note::new("half way"));
    let unseen = Commit::of([entry("a", "1")]);
    let asking = Commit::default().asking([question("go")]);
    for (commit, minutes) in [(noting, 1), (unseen, 1), (asking, 3)] {
        subject.advance(MINUTE).await?;
        store.append(lease, commit).await?;
        let age = age(&subject.seen(1).await?.summary);
        same(
            age >= MINUTE * minutes && age < MINUTE * (minutes + 1),
            true,
        )?;
    }
    subject.advance(MINUTE).await?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    same(age(&subject.seen(1).await?.summary) >= MINUTE * 4, true)?;
    subject.advance(MINUTE).await?;
    store.cancel(CALLER, id(1)).await?;
    same(age(&subject.seen(1).await?.summary) >= MINUTE * 5, true)?;
    // The end was dated when it came; what is undone after it is not seen.
    subject.advance(MINUTE).await?;
    store.finish(lease, Outcome::Cancelled).await?;
    same(age(&subject.seen(1).await?.summary) < MINUTE * 6, true)
}

/// Age of a task at its last change. The times themselves move when a database is
/// made to believe that time has passed.
fn age(summary: &Summary) -> Duration {
    summary.updated_at - summary.created_at
}
