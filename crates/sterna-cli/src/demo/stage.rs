//! Fixture of both parts of the demo.

use serde_json::json;
use sterna_client::{Client, ErrorKind, PausedCall, Step};
use sterna_protocol::content::ContentBlock;
use sterna_protocol::elicitation::ElicitResult;
use sterna_protocol::input::{InputRequests, InputResponses};
use sterna_protocol::tool::CallToolResult;

use super::proxy::{Exchange, Proxy};
use crate::args::{AnswerArgs, PresetArgs};
use crate::exit::{Exit, Failure};
use crate::rounds::{Asked, Rounds};
use crate::screen::Screen;
use crate::text::Text;

pub(super) type Paused = PausedCall<CallToolResult>;

/// Parts of the fixture.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) proxy: &'a Proxy,
    pub(super) screen: Screen,
    pub(super) rounds: Rounds<'a>,
}

impl Stage<'_> {
    pub(super) fn client(&self) -> &Client {
        self.rounds.client
    }

    /// Opens an act.
    pub(super) fn open(&self, scene: &str) {
        self.screen.note(Text::bold(scene));
    }

    /// The questions of a round; a call that ended too early ends the story.
    pub(super) fn asked(&self, round: u32, step: Step<CallToolResult>) -> Result<Paused, Failure> {
        match step {
            Step::InputRequired(paused) => {
                let keys: Vec<_> = paused.open().map(|(key, _)| key).collect();
                self.line(round, format!("asks {}", keys.join(", ")));
                Ok(paused)
            }
            _ => Err(anyhow::anyhow!("the call ended in round {round}").into()),
        }
    }

    pub(super) async fn answer(&self, mut paused: Paused) -> Result<Paused, Failure> {
        let asked = self.rounds.answer_all(&mut paused).await?;
        went_on(asked).map(|()| paused)
    }

    /// Has the questions of a task answered.
    pub(super) async fn answer_task(&self, open: InputRequests) -> Result<InputResponses, Failure> {
        let server = self.client().endpoint();
        let (answers, asked) = self.rounds.ask(server, "publish", open).await?;
        went_on(asked).map(|()| answers.into_iter().collect())
    }

    pub(super) fn last(&self) -> Exchange {
        self.proxy
            .last()
            .expect("the proxy has just forwarded an answer")
    }

    pub(super) fn line(&self, round: u32, what: impl Into<Text>) {
        let Exchange {
            replica,
            took,
            state,
        } = self.last();
        let millis = took.as_secs_f64() * 1000.0;
        let round = format!(
            "  round {round}  replica {replica}  state {state:>4} characters  {millis:>6.1} ms  "
        );
        self.screen.note(Text::from(round) + what);
    }

    pub(super) fn tell(&self, what: &str) {
        self.screen.note(Text::from("  ") + Text::dim(what));
    }

    /// The words with which a state was refused; `None` if it was taken.
    pub(super) async fn refusal(&self, theft: &Paused) -> Option<String> {
        match theft.resume(self.client()).await {
            Err(error) if error.kind() == ErrorKind::RequestState => {
                error.rpc().map(|error| error.message.clone())
            }
            _ => None,
        }
    }
}

fn went_on(asked: Asked) -> Result<(), Failure> {
    match asked {
        Asked::Answered => Ok(()),
        Asked::Unanswered | Asked::Stopped => {
            let error = anyhow::anyhow!("the demo ends where you left it");
            Err(Failure::new(Exit::Declined, error))
        }
    }
}

/// An answer without a question.
pub(super) fn accepted(content: serde_json::Value) -> Result<ElicitResult, Failure> {
    let result = json!({"action": "accept", "content": content});
    Ok(serde_json::from_value(result)?)
}

pub(super) fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Answers that the demo gives by itself.
pub(super) fn answers(auto: bool) -> AnswerArgs {
    let given = [
        "resolution.resolution=Duplicate",
        "details.details=4301",
        "details~2.details=4301",
        "details~2.confirmed_by=Ada",
        "amount.amount:=20",
        "choice.name=Ada",
        "approval.name=Ada",
    ];
    let given = given.iter().filter(|_| auto);
    AnswerArgs {
        preset: PresetArgs {
            given: given.map(|&word| word.to_owned()).collect(),
            ..PresetArgs::default()
        },
        ..AnswerArgs::default()
    }
}
