//! Values of every size and text of every kind.

use bytes::Bytes;

use super::Subject;
use super::case::{Broken, cases, same};
use super::fixture::{CALLER, answer, claim, id, name, new_task, pattern, question};
use crate::{
    Answer, Claim, Commit, Entry, Name, Note, Outcome, Passivation, Question, Targets, Tasks,
};

cases! { dyn Tasks:
    big_values_come_back_as_they_were,
    empty_values_come_back_as_they_were,
    hostile_text_is_only_text,
    many_entries_and_questions_are_kept,
}

async fn big_values_come_back_as_they_were(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let big: Bytes = pattern(3 << 20);
    values_come_back(&subject, &big).await
}

async fn empty_values_come_back_as_they_were(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    values_come_back(&subject, &Bytes::new()).await
}

async fn values_come_back(subject: &Subject<dyn Tasks>, value: &Bytes) -> Result<(), Broken> {
    let store = subject.store();
    let mut new = new_task(1);
    new.request = value.clone();
    new.journal = vec![Entry::new(name("before"), value.clone())];
    store.create(new).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.request == *value, true)?;
    let asked = Question::new(name("go"), [0; 16], value.clone());
    let commit = Commit::of([Entry::new(name("step"), value.clone())]).asking([asked]);
    store
        .passivate(claimed.lease, commit, Passivation::ForAnswers)
        .await?;
    let shown = subject.seen(1).await?.questions;
    same(shown.len() == 1 && shown[0].request == *value, true)?;
    let response = Answer::new(name("go"), value.clone());
    store.answer(CALLER, id(1), vec![response]).await?;
    let claimed = subject.claimed(1).await?;
    same(
        claimed.journal.iter().all(|entry| entry.value == *value),
        true,
    )?;
    same(
        claimed
            .answers
            .iter()
            .all(|answer| answer.response == *value),
        true,
    )?;
    same((claimed.journal.len(), claimed.answers.len()), (2, 1))?;
    let outcome = Outcome::Completed(value.clone());
    store.finish(claimed.lease, outcome.clone()).await?;
    same(subject.seen(1).await?.outcome == Some(outcome), true)
}

async fn hostile_text_is_only_text(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let texts = [
        "'; DROP TABLE task; --",
        "\" OR 1=1",
        "$1 $2 ? ?1 :x @x",
        "{a,\"b\"} {} NULL null",
        "\\x00 \\ \\\\ \\'",
        "%_*",
        " leading and trailing ",
        "\r\n\t\u{1}\u{7f}\u{200b}",
        "\u{202e}🐦\u{fe0f}é\u{301}",
    ];
    let store = subject.store();
    for (number, text) in (1..).zip(texts) {
        let text = format!("{text}{}", "x".repeat(Name::LONGEST - text.len()));
        let mut new = new_task(number);
        new.target = name(&text);
        new.note = Some(Note::new(&text));
        store.create(new).await?;
        let mut wish = Claim::new(name(&text), super::fixture::LEASE);
        wish.targets = Targets::Only(vec![name("other"), name(&text)]);
        let claimed = store.claim(wish).await?;
        same(claimed.len(), 1)?;
        let lease = claimed[0].lease;
        same(&claimed[0].summary.target, &name(&text))?;
        let commit = Commit::of([Entry::new(name(&text), Bytes::from(text.clone()))])
            .asking([question(&text)]);
        store
            .passivate(lease, commit, Passivation::ForAnswers)
            .await?;
        let task = subject.seen(number).await?;
        same(task.questions, vec![question(&text)])?;
        same(task.summary.note, Some(Note::new(&text)))?;
        store
            .answer(CALLER, id(number), vec![answer(&text, &text)])
            .await?;
        let claimed = subject.claimed(number).await?;
        same(claimed.answers, vec![answer(&text, &text)])?;
        same(&claimed.journal[0].key, &name(&text))?;
        let commit = Commit::default().taking(name(&text));
        same(
            store.append(claimed.lease, commit).await?.answers,
            Vec::new(),
        )?;
    }
    same(store.claim(claim(10)).await?.len(), 0)
}

async fn many_entries_and_questions_are_kept(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let entries: Vec<_> = (0..500)
        .map(|n| Entry::new(name(&format!("step#{n}")), Bytes::from(n.to_string())))
        .collect();
    let keys: Vec<_> = (0..100).map(|n| format!("question#{n}")).collect();
    let commit = Commit::of(entries.clone()).asking(keys.iter().map(|key| question(key)));
    store
        .passivate(lease, commit, Passivation::ForAnswers)
        .await?;
    same(subject.seen(1).await?.questions.len(), 100)?;
    let answers: Vec<_> = keys.iter().map(|key| answer(key, key)).collect();
    store.answer(CALLER, id(1), answers.clone()).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.journal, entries)?;
    same(claimed.answers, answers)
}
