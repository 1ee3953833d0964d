//! The second act, on a store that the replicas share: a lost answer, a token
//! that is used twice, and a task that outlives every process.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sterna_client::{ErrorKind, Step};
use sterna_protocol::tasks::TaskState;

use super::claims::Claims;
use super::durable_tools::effects_in;
use super::fleet::Fleet;
use super::stage::{Stage, accepted, text};
use crate::exit::Failure;
use crate::session::failure;
use crate::text::Text;

/// Plays it and notes what was seen.
pub(super) async fn play(
    fleet: &mut Fleet,
    stage: &Stage<'_>,
    store: &Path,
    claims: &mut Claims,
) -> Result<(), Failure> {
    restart(fleet, stage, store).await?;
    stage.open("the same three servers, and a SQLite file that they share");
    lose_an_answer(stage, store, claims).await?;
    vote_twice(stage, claims).await?;
    kill_a_task(fleet, stage, store, claims).await
}

/// A refund whose answer is lost on the way, and two ways to ask again.
async fn lose_an_answer(
    stage: &Stage<'_>,
    store: &Path,
    claims: &mut Claims,
) -> Result<(), Failure> {
    let client = stage.client();
    let call = client.call("refund").args(json!({"order": "77"}));
    let paused = stage.asked(1, Box::pin(call.start()).await.map_err(failure)?)?;
    let answered = stage.answer(paused).await?;
    stage.proxy.lose_next();
    let lost = answered.resume(client).await;
    let was_lost = lost.is_err_and(|error| error.kind() == ErrorKind::Unavailable);
    let first = stage.last().replica;
    stage.tell(&format!(
        "replica {first} refunded, and its answer was lost on the way"
    ));
    let again = answered.resume(client).await.map_err(failure)?;
    let second = stage.last().replica;
    let refunds = count(store, "refunded")?;
    let complete = match again {
        Step::Complete(result) => {
            stage.line(2, Text::bold(text(&result)));
            true
        }
        _ => false,
    };
    claims.note(
        "a lost answer is asked for again, and the effect has happened once",
        was_lost && complete && refunds == 1,
        format!("done by {first}, told by {second}, refunded {refunds} time"),
    );
    let mut greedy = answered;
    let more = accepted(json!({"amount": 2000}))?;
    greedy.answer("amount", more).map_err(failure)?;
    claims.refused(
        "the same round with other answers is refused",
        stage.refusal(&greedy).await,
    );
    Ok(())
}

/// A tool that takes each token once.
async fn vote_twice(stage: &Stage<'_>, claims: &mut Claims) -> Result<(), Failure> {
    let client = stage.client();
    let call = client.call("vote");
    let paused = stage.asked(1, Box::pin(call.start()).await.map_err(failure)?)?;
    let answered = stage.answer(paused).await?;
    let first = answered.resume(client).await.map_err(failure)?;
    if let Step::Complete(result) = first {
        stage.line(2, Text::bold(text(&result)));
    }
    claims.refused(
        "a token that was used is refused, where a tool says so",
        stage.refusal(&answered).await,
    );
    Ok(())
}

/// A task that is killed in the middle of its work.
async fn kill_a_task(
    fleet: &mut Fleet,
    stage: &Stage<'_>,
    store: &Path,
    claims: &mut Claims,
) -> Result<(), Failure> {
    let client = stage.client();
    let call = client.call("publish").args(json!({"title": "Terns"}));
    let Step::Task(task) = Box::pin(call.start()).await.map_err(failure)? else {
        return Err(anyhow::anyhow!("the call did not become a task").into());
    };
    let answers = loop {
        let (_, state) = task.get(client).await.map_err(failure)?.into_parts();
        match state {
            TaskState::InputRequired(open) => break stage.answer_task(open).await?,
            TaskState::Working => tokio::time::sleep(GLANCE).await,
            _ => return Err(anyhow::anyhow!("the task ended before it asked").into()),
        }
    };
    task.update(client, answers).await.map_err(failure)?;
    in_time(printing(store)).await?;
    restart(fleet, stage, store).await?;
    stage.tell("kill -9 for all three while the task was printing; started them again");
    let result = in_time(async { task.follow(client).await.map_err(failure) }).await?;
    let result = text(&result);
    stage.tell(&format!("the task ends: {result}"));
    let [rendered, published] = [count(store, "rendered")?, count(store, "published")?];
    claims.note(
        "a task survives kill -9 of every process",
        result.starts_with("Terns is out") && (rendered, published) == (1, 1),
        format!("rendered {rendered} time, published {published} time"),
    );
    Ok(())
}

async fn restart(fleet: &mut Fleet, stage: &Stage<'_>, store: &Path) -> Result<(), Failure> {
    fleet.restart_on(store).await?;
    stage.proxy.set_replicas(fleet.addresses());
    Ok(())
}

/// Waits until a worker is in the middle of its work.
async fn printing(store: &Path) -> Result<(), Failure> {
    while count(store, "printing")? == 0 {
        tokio::time::sleep(GLANCE).await;
    }
    Ok(())
}

/// Number of recorded effects.
fn count(store: &Path, what: &str) -> Result<usize, Failure> {
    match std::fs::read_to_string(effects_in(store)) {
        Ok(text) => Ok(text.lines().filter(|line| *line == what).count()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// A demo that cannot go on says so instead of hanging.
async fn in_time<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let stuck = |_| anyhow::anyhow!("the task got no further in {PATIENCE:?}");
    tokio::time::timeout(PATIENCE, work).await.map_err(stuck)?
}

const GLANCE: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(20);
