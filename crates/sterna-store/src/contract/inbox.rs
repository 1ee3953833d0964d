//! Answers: none is lost, none counts twice.

use super::Subject;
use super::case::{Broken, cases, same};
use super::fixture::{CALLER, LEASE, answer, entry, id, name, new_task, question, together};
use crate::{Answered, BoxFuture, Commit, Error, Lease, Passivated, Passivation, Status, Tasks};

cases! { dyn Tasks:
    an_answer_wakes_a_resting_task,
    an_answer_before_the_task_rests_keeps_it_awake,
    an_answer_that_races_with_rest_is_never_lost,
    answers_may_come_one_by_one,
    answers_come_in_the_order_they_were_given,
    only_the_first_answer_counts,
    concurrent_answers_count_once,
    keys_that_were_not_asked_are_ignored,
    an_answer_outlives_the_worker_that_read_it,
    a_taken_answer_is_not_handed_out_again,
    only_an_answer_can_be_taken,
    a_worker_hears_of_answers_while_it_works,
}

/// The task `number`, at rest with `keys` open.
async fn resting(subject: &Subject<dyn Tasks>, number: u8, keys: &[&str]) -> Result<(), Broken> {
    let lease = subject.held(number).await?;
    let commit = Commit::default().asking(keys.iter().map(|key| question(key)));
    let rested = subject
        .store()
        .passivate(lease, commit, Passivation::ForAnswers)
        .await?;
    same(rested, Passivated::Parked)?;
    subject.idle().await
}

async fn an_answer_wakes_a_resting_task(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    resting(&subject, 1, &["go"]).await?;
    same(subject.seen(1).await?.summary.status, Status::InputRequired)?;
    let answered = subject
        .store()
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    same(answered, Some(Answered::new(1, Status::Working)))?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Working)?;
    same(task.questions, Vec::new())?;
    same(subject.claimed(1).await?.answers, vec![answer("go", "yes")])
}

async fn an_answer_before_the_task_rests_keeps_it_awake(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let asking = || Commit::default().asking([question("go")]);
    store.append(lease, asking()).await?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    let rested = store
        .passivate(lease, asking(), Passivation::ForAnswers)
        .await?;
    let Passivated::Refused(news) = rested else {
        return Err(Broken::new("the task went to rest on an answer"));
    };
    same(news.answers, vec![answer("go", "yes")])?;
    store.renew(lease, LEASE).await?;
    subject.idle().await
}

async fn an_answer_that_races_with_rest_is_never_lost(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    for number in 0..20 {
        let lease = subject.held(number).await?;
        let store = subject.store();
        let asking = Commit::default().asking([question("go")]);
        store.append(lease, asking.clone()).await?;
        let rest = race(
            store.passivate(lease, asking, Passivation::ForAnswers),
            |rested| Ok(Some(rested?)),
        );
        let tell = race(
            store.answer(CALLER, id(number), vec![answer("go", "yes")]),
            |answered| answered.map(|_| None),
        );
        // Either may be first.
        let futures = match number % 2 {
            0 => vec![rest, tell],
            _ => vec![tell, rest],
        };
        let mut rested = None;
        for result in together(futures).await {
            rested = rested.or(result?);
        }
        let answers = match rested {
            Some(Passivated::Refused(news)) => news.answers,
            _ => subject.claimed(number).await?.answers,
        };
        same(answers, vec![answer("go", "yes")])?;
    }
    Ok(())
}

fn race<'a, T: Send + 'a>(
    future: BoxFuture<'a, Result<T, Error>>,
    map: fn(Result<T, Error>) -> Result<Option<Passivated>, Error>,
) -> BoxFuture<'a, Result<Option<Passivated>, Error>> {
    Box::pin(async move { map(future.await) })
}

async fn answers_may_come_one_by_one(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    resting(&subject, 1, &["a", "b"]).await?;
    let store = subject.store();
    let answered = store.answer(CALLER, id(1), vec![answer("b", "2")]).await?;
    same(answered, Some(Answered::new(1, Status::InputRequired)))?;
    same(subject.seen(1).await?.questions, vec![question("a")])?;
    let claimed = subject.claimed(1).await?;
    same(claimed.answers, vec![answer("b", "2")])?;
    let commit = Commit::of([entry("b", "2")])
        .taking(name("b"))
        .asking([question("a")]);
    let rested = store
        .passivate(claimed.lease, commit, Passivation::ForAnswers)
        .await?;
    same(rested, Passivated::Parked)?;
    let answered = store.answer(CALLER, id(1), vec![answer("a", "1")]).await?;
    same(answered, Some(Answered::new(1, Status::Working)))?;
    same(subject.claimed(1).await?.answers, vec![answer("a", "1")])
}

async fn answers_come_in_the_order_they_were_given(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    resting(&subject, 1, &["a", "b", "c"]).await?;
    let store = subject.store();
    store
        .answer(CALLER, id(1), vec![answer("c", "1"), answer("a", "2")])
        .await?;
    store.answer(CALLER, id(1), vec![answer("b", "3")]).await?;
    let answers = subject.claimed(1).await?.answers;
    same(
        answers,
        vec![answer("c", "1"), answer("a", "2"), answer("b", "3")],
    )
}

async fn only_the_first_answer_counts(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    resting(&subject, 1, &["go"]).await?;
    let store = subject.store();
    let twice = vec![answer("go", "yes"), answer("go", "no")];
    let answered = store.answer(CALLER, id(1), twice).await?;
    same(answered, Some(Answered::new(1, Status::Working)))?;
    let answered = store
        .answer(CALLER, id(1), vec![answer("go", "no")])
        .await?;
    same(answered, Some(Answered::new(0, Status::Working)))?;
    same(subject.claimed(1).await?.answers, vec![answer("go", "yes")])
}

async fn concurrent_answers_count_once(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    resting(&subject, 1, &["go"]).await?;
    let store = subject.store();
    let answers = (0..8).map(|n| store.answer(CALLER, id(1), vec![answer("go", &n.to_string())]));
    let mut accepted = 0;
    for answered in together(answers.collect()).await {
        accepted += answered?.map_or(0, |answered| answered.accepted);
    }
    same(accepted, 1)?;
    same(subject.claimed(1).await?.answers.len(), 1)
}

async fn keys_that_were_not_asked_are_ignored(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    resting(&subject, 1, &["go"]).await?;
    let store = subject.store();
    let unknown = vec![
        answer("GO", "yes"),
        answer("go ", "yes"),
        answer("%", "yes"),
    ];
    let answered = store.answer(CALLER, id(1), unknown).await?;
    same(answered, Some(Answered::new(0, Status::InputRequired)))?;
    let answered = store.answer(CALLER, id(1), Vec::new()).await?;
    same(answered, Some(Answered::new(0, Status::InputRequired)))?;
    subject.idle().await
}

async fn an_answer_outlives_the_worker_that_read_it(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    resting(&subject, 1, &["go"]).await?;
    subject
        .store()
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    same(subject.claimed(1).await?.answers.len(), 1)?;
    subject.advance(LEASE * 2).await?;
    same(subject.claimed(1).await?.answers, vec![answer("go", "yes")])
}

async fn a_taken_answer_is_not_handed_out_again(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    resting(&subject, 1, &["go"]).await?;
    subject
        .store()
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    let lease: Lease = subject.claimed(1).await?.lease;
    let commit = Commit::of([entry("go", "yes")])
        .taking(name("go"))
        .taking(name("go"))
        .taking(name("never asked"));
    let news = subject.store().append(lease, commit).await?;
    same(news.answers, Vec::new())?;
    subject.advance(LEASE * 2).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.answers, Vec::new())?;
    same(claimed.journal, vec![entry("go", "yes")])
}

async fn only_an_answer_can_be_taken(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let asking = Commit::default().asking([question("go")]);
    store.append(lease, asking).await?;
    let early = Commit::default().taking(name("go"));
    same(
        store.append(lease, early).await?.status,
        Status::InputRequired,
    )?;
    same(subject.seen(1).await?.questions, vec![question("go")])?;
    let answered = store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    same(answered, Some(Answered::new(1, Status::Working)))
}

async fn a_worker_hears_of_answers_while_it_works(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    subject.store().create(new_task(1)).await?;
    let lease = subject.claimed(1).await?.lease;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    same(store.renew(lease, LEASE).await?.answers, Vec::new())?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    same(
        store.renew(lease, LEASE).await?.answers,
        vec![answer("go", "yes")],
    )?;
    let news = store.append(lease, Commit::of([entry("a", "1")])).await?;
    same(news.answers, vec![answer("go", "yes")])?;
    subject.idle().await
}
