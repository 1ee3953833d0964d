//! A key names one question for the life of a task.

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{CALLER, answer, bytes, id, name, question};
use crate::{
    Answered, Asked, Commit, ErrorKind, Passivated, Passivation, Phase, Question, Status, Tasks,
};

cases! { dyn Tasks:
    questions_are_shown_in_the_order_they_were_asked,
    asking_again_keeps_the_first_wording,
    a_key_can_not_name_another_question,
    an_answered_key_can_not_be_asked_again,
    a_question_that_is_no_longer_asked_is_withdrawn,
    a_withdrawn_question_may_be_asked_again,
    asking_nothing_takes_the_task_back_to_work,
    a_worker_learns_everything_that_was_ever_asked,
}

async fn questions_are_shown_in_the_order_they_were_asked(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let commit = Commit::default().asking([question("z"), question("a")]);
    let news = subject.store().append(lease, commit).await?;
    same(news.status, Status::InputRequired)?;
    let commit = Commit::default().asking([question("b"), question("a"), question("z")]);
    subject.store().append(lease, commit).await?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::InputRequired)?;
    same(
        task.questions,
        vec![question("z"), question("a"), question("b")],
    )
}

async fn asking_again_keeps_the_first_wording(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let commit = Commit::default().asking([question("go"), question("go")]);
    subject.store().append(lease, commit).await?;
    let reworded = Question::new(name("go"), [1; 16], bytes("really go?"));
    let commit = Commit::default().asking([reworded]);
    subject.store().append(lease, commit).await?;
    same(subject.seen(1).await?.questions, vec![question("go")])
}

async fn a_key_can_not_name_another_question(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let other = Question::new(name("go"), [2; 16], bytes("stop?"));
    let at_once = Commit::default().asking([question("go"), other.clone()]);
    refused(store.append(lease, at_once).await, ErrorKind::Conflict)?;
    same(subject.seen(1).await?.questions, Vec::new())?;
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    let later = Commit::default().asking([other.clone()]);
    refused(store.append(lease, later).await, ErrorKind::Conflict)?;
    store.append(lease, Commit::default().asking([])).await?;
    let withdrawn = Commit::default().asking([other]);
    refused(store.append(lease, withdrawn).await, ErrorKind::Conflict)
}

async fn an_answered_key_can_not_be_asked_again(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let asking = || Commit::default().asking([question("go")]);
    store.append(lease, asking()).await?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    // Asked again before its answer was read, it is still answered.
    let news = store.append(lease, asking()).await?;
    same(news.status, Status::Working)?;
    same(news.answers, vec![answer("go", "yes")])?;
    let both = asking().taking(name("go"));
    refused(store.append(lease, both).await, ErrorKind::Conflict)?;
    store
        .append(lease, Commit::default().taking(name("go")))
        .await?;
    refused(store.append(lease, asking()).await, ErrorKind::Conflict)
}

async fn a_question_that_is_no_longer_asked_is_withdrawn(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let both = Commit::default().asking([question("a"), question("b")]);
    store.append(lease, both).await?;
    let one = Commit::default().asking([question("b")]);
    let rested = store.passivate(lease, one, Passivation::ForAnswers).await?;
    same(rested, Passivated::Parked)?;
    same(subject.seen(1).await?.questions, vec![question("b")])?;
    let answered = store
        .answer(CALLER, id(1), vec![answer("a", "late")])
        .await?;
    same(answered, Some(Answered::new(0, Status::InputRequired)))?;
    subject.idle().await
}

async fn a_withdrawn_question_may_be_asked_again(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    for asked in [
        vec![question("a")],
        vec![question("b")],
        vec![question("a")],
    ] {
        store.append(lease, Commit::default().asking(asked)).await?;
    }
    same(subject.seen(1).await?.questions, vec![question("a")])?;
    let answered = store
        .answer(CALLER, id(1), vec![answer("a", "yes")])
        .await?;
    same(answered, Some(Answered::new(1, Status::Working)))
}

async fn asking_nothing_takes_the_task_back_to_work(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("a")]))
        .await?;
    same(
        store.append(lease, Commit::default()).await?.status,
        Status::InputRequired,
    )?;
    let news = store.append(lease, Commit::default().asking([])).await?;
    same(news.status, Status::Working)?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Working)?;
    same(task.questions, Vec::new())
}

async fn a_worker_learns_everything_that_was_ever_asked(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let all = ["z", "taken", "answered", "open"].map(question);
    store
        .append(lease, Commit::default().asking(all.clone()))
        .await?;
    let answers = vec![answer("answered", "1"), answer("taken", "2")];
    store.answer(CALLER, id(1), answers).await?;
    let [_, _, answered, open] = all;
    let commit = Commit::default()
        .taking(name("taken"))
        .asking([answered, open]);
    store.append(lease, commit).await?;
    store
        .passivate(lease, Commit::default(), Passivation::HandOver)
        .await?;
    let asked = [
        ("z", Phase::Withdrawn),
        ("taken", Phase::Taken),
        ("answered", Phase::Answered),
        ("open", Phase::Open),
    ];
    let asked = asked.map(|(key, phase)| Asked::new(name(key), question(key).fingerprint, phase));
    same(subject.claimed(1).await?.asked, asked.to_vec())
}
