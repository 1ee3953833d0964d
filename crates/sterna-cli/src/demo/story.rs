//! The story: one call, four rounds, a kill, an upgrade, and two attackers.

use std::sync::Arc;

use serde_json::{Value, json};
use sterna_client::{Client, ErrorKind, PausedCall, Step};
use sterna_protocol::content::ContentBlock;
use sterna_protocol::tool::CallToolResult;
use tokio::sync::Mutex;

use super::claims::Claims;
use super::fleet::Fleet;
use super::proxy::{Exchange, Proxy};
use crate::args::AnswerArgs;
use crate::ask::Desk;
use crate::exit::{Exit, Failure};
use crate::rounds::Rounds;
use crate::screen::{BOLD, DIM, Screen};
use crate::session::failure;

type Paused = PausedCall<CallToolResult>;

/// Plays it and notes what was seen.
pub(super) async fn play(
    fleet: &mut Fleet,
    proxy: &Proxy,
    auto: bool,
    screen: Screen,
) -> Result<Claims, Failure> {
    let client = Client::connect(proxy.url()).await.map_err(failure)?;
    let desk = Arc::new(Mutex::new(Desk::for_demo(&answers(auto), auto, screen)?));
    let stage = Stage {
        proxy,
        screen,
        rounds: Rounds {
            client: &client,
            desk: &desk,
            save: None,
            screen,
        },
    };
    let mut claims = Claims::default();

    let call = client.call("update_work_item").args(json!({"id": "4522"}));
    let first = stage.asked(1, Box::pin(call.start()).await.map_err(failure)?)?;
    let first_replica = stage.last().replica;
    let answered = stage.answer(first).await?;

    fleet.kill(first_replica).await?;
    stage.tell(&format!(
        "killed replica {first_replica}, which asked; it took nothing with it"
    ));
    let second = stage.asked(2, answered.resume(&client).await.map_err(failure)?)?;
    let second_replica = stage.last().replica;
    claims.note(
        "a call goes on when the replica that asked is dead",
        second_replica != first_replica,
        format!("asked by {first_replica}, taken up by {second_replica}"),
    );
    refuse_thieves(&second, &client, &mut claims).await?;
    let answered = stage.answer(second).await?;

    fleet.upgrade(2).await?;
    proxy.set_replicas(fleet.addresses());
    stage.tell("upgraded the others to a build that words its second question otherwise");
    let third = stage.asked(3, answered.resume(&client).await.map_err(failure)?)?;
    let keys: Vec<_> = third.open().map(|(key, _)| key.to_owned()).collect();
    claims.note(
        "a new build keeps the answers and asks again only what it words otherwise",
        keys == ["details~2"],
        format!("asked for {}", keys.join(", ")),
    );
    let answered = stage.answer(third).await?;
    let Step::Complete(result) = answered.resume(&client).await.map_err(failure)? else {
        claims.note(
            "the call ends after four requests",
            false,
            "it asks for more",
        );
        return Ok(claims);
    };
    let text = text(&result);
    stage.line(4, &format!("{BOLD}{text}{BOLD:#}"));
    let once = format!("looked up once, by replica {first_replica}");
    claims.note(
        "a finished step never runs again, on whichever replica",
        text.ends_with(&once),
        once,
    );
    Ok(claims)
}

/// What the stage is set with.
struct Stage<'a> {
    proxy: &'a Proxy,
    screen: Screen,
    rounds: Rounds<'a>,
}

impl Stage<'_> {
    /// The questions of a round; a call that ended too early ends the story.
    fn asked(&self, round: u32, step: Step<CallToolResult>) -> Result<Paused, Failure> {
        match step {
            Step::InputRequired(paused) => {
                let keys: Vec<_> = paused.open().map(|(key, _)| key).collect();
                self.line(round, &format!("asks {}", keys.join(", ")));
                Ok(paused)
            }
            _ => Err(anyhow::anyhow!("the call ended in round {round}").into()),
        }
    }

    async fn answer(&self, mut paused: Paused) -> Result<Paused, Failure> {
        match self.rounds.answer_for_demo(&mut paused).await? {
            true => Ok(paused),
            false => {
                let error = anyhow::anyhow!("the demo ends where you left it");
                Err(Failure::new(Exit::Declined, error))
            }
        }
    }

    fn last(&self) -> Exchange {
        self.proxy
            .last()
            .expect("the proxy has just forwarded an answer")
    }

    fn line(&self, round: u32, what: &str) {
        let Exchange {
            replica,
            took,
            state,
        } = self.last();
        let millis = took.as_secs_f64() * 1000.0;
        self.screen.note(format!(
            "  round {round}  replica {replica}  state {state:>4} characters  {millis:>6.1} ms  {what}"
        ));
    }

    fn tell(&self, what: &str) {
        self.screen.note(format!("  {DIM}{what}{DIM:#}"));
    }
}

/// A state that was altered and one that was moved to another call.
async fn refuse_thieves(
    paused: &Paused,
    client: &Client,
    claims: &mut Claims,
) -> Result<(), Failure> {
    let stolen = |change: &dyn Fn(&mut Value)| -> Result<Paused, Failure> {
        let mut json = serde_json::to_value(paused)?;
        change(&mut json);
        let mut stolen: Paused = serde_json::from_value(json)?;
        let content = json!({"details": "4301"});
        let result = serde_json::from_value::<sterna_protocol::elicitation::ElicitResult>(
            json!({"action": "accept", "content": content}),
        )?;
        stolen.answer("details", result).map_err(failure)?;
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
        let refused = match theft.resume(client).await {
            Err(error) if error.kind() == ErrorKind::RequestState => {
                error.rpc().map(|error| error.message.clone())
            }
            _ => None,
        };
        let seen = refused.clone().unwrap_or_else(|| "it was taken".to_owned());
        claims.note(claim, refused.is_some(), seen);
    }
    Ok(())
}

fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// What the demo answers by itself.
fn answers(auto: bool) -> AnswerArgs {
    let given = [
        "resolution.resolution=Duplicate",
        "details.details=4301",
        "details~2.details=4301",
        "details~2.confirmed_by=Ada",
    ];
    AnswerArgs {
        given: given
            .iter()
            .filter(|_| auto)
            .map(|&word| word.to_owned())
            .collect(),
        ..AnswerArgs::default()
    }
}
