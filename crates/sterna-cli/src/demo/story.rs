//! The first act, round trips: one call, four rounds, a kill, an upgrade, and
//! two attackers.

use serde_json::{Value, json};
use sterna_client::Step;

use super::claims::Claims;
use super::fleet::Fleet;
use super::stage::{Paused, Stage, accepted, text};
use crate::exit::Failure;
use crate::session::failure;
use crate::text::Text;

/// Plays it and notes what was seen.
pub(super) async fn play(
    fleet: &mut Fleet,
    stage: &Stage<'_>,
    claims: &mut Claims,
) -> Result<(), Failure> {
    let client = stage.client();
    let call = client.call("update_work_item").args(json!({"id": "4522"}));
    let first = stage.asked(1, Box::pin(call.start()).await.map_err(failure)?)?;
    let first_replica = stage.last().replica;
    let answered = stage.answer(first).await?;

    fleet.kill(first_replica).await?;
    stage.tell(&format!(
        "killed replica {first_replica}, which asked; it took nothing with it"
    ));
    let second = stage.asked(2, answered.resume(client).await.map_err(failure)?)?;
    let second_replica = stage.last().replica;
    claims.note(
        "a call goes on when the replica that asked is dead",
        second_replica != first_replica,
        format!("asked by {first_replica}, taken up by {second_replica}"),
    );
    refuse_thieves(&second, stage, claims).await?;
    let answered = stage.answer(second).await?;

    fleet.upgrade(2).await?;
    stage.proxy.set_replicas(fleet.addresses());
    stage.tell("upgraded the others to a build that words its second question otherwise");
    let third = stage.asked(3, answered.resume(client).await.map_err(failure)?)?;
    let keys: Vec<_> = third.open().map(|(key, _)| key.to_owned()).collect();
    claims.note(
        "a new build keeps the answers and asks again only what it words otherwise",
        keys == ["details~2"],
        format!("asked for {}", keys.join(", ")),
    );
    let answered = stage.answer(third).await?;
    let Step::Complete(result) = answered.resume(client).await.map_err(failure)? else {
        claims.note(
            "the call ends after four requests",
            false,
            "it asks for more",
        );
        return Ok(());
    };
    let text = text(&result);
    stage.line(4, Text::bold(&text));
    let once = format!("looked up once, by replica {first_replica}");
    claims.note(
        "a finished step never runs again, on any replica",
        text.ends_with(&once),
        once,
    );
    Ok(())
}

/// A state that was altered and one that was moved to another call.
async fn refuse_thieves(
    paused: &Paused,
    stage: &Stage<'_>,
    claims: &mut Claims,
) -> Result<(), Failure> {
    let stolen = |change: &dyn Fn(&mut Value)| -> Result<Paused, Failure> {
        let mut json = serde_json::to_value(paused)?;
        change(&mut json);
        let mut stolen: Paused = serde_json::from_value(json)?;
        let details = accepted(json!({"details": "4301"}))?;
        stolen.answer("details", details).map_err(failure)?;
        Ok(stolen)
    };
    let tampered = stolen(&|json| {
        let state = json["state"].as_str().unwrap_or_default();
        let at = state.len() / 2;
        let other = if state[at..].starts_with('A') {
            "B"
        } else {
            "A"
        };
        json["state"] = format!("{}{other}{}", &state[..at], &state[at + 1..]).into();
    })?;
    let moved = stolen(&|json| json["request"]["arguments"] = r#"{"id":"1"}"#.into())?;
    for (claim, theft) in [
        ("a state that was altered is refused", tampered),
        (
            "a state that is used for another work item is refused",
            moved,
        ),
    ] {
        claims.refused(claim, stage.refusal(&theft).await);
    }
    Ok(())
}
