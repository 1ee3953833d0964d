//! A round that is played twice more, without answers.

use serde_json::Value;

use super::Said;
use super::rounds::Player;
use crate::failure::Failure;
use crate::notes::Who;
use crate::show;
use crate::wire::Message;

impl Player<'_> {
    /// Replays `round` twice, each time on another replica. It must ask the
    /// same and do nothing.
    pub(super) async fn replay(
        &mut self,
        round: u32,
        state: Option<&Value>,
        asked: &[(String, Value)],
    ) -> Result<(), Failure> {
        for (key, request) in asked {
            self.note(Who::Server, show::question(key, request));
        }
        for _ in 0..2 {
            self.note(
                Who::Kit,
                format!("round {round} is replayed without answers"),
            );
            let (notes, effects) = (self.cluster.notes.count(), self.cluster.effects());
            let flow = self.cluster.flow;
            let mut params = flow.target.params(&flow.args);
            if let Some(state) = state {
                params["requestState"] = state.clone();
            }
            let replica = self.cluster.replica(round)?;
            let message = Message::modern(flow.target.method, params, &flow.capabilities);
            let sending = self.cluster.send(&replica, message, None);
            let message = self.cluster.on_stage(async { sending.await.last().await });
            let said = Said::read(&message.await);
            self.same_questions(round, asked, &said)?;
            self.no_steps(round, notes)?;
            self.no_effects(round, &effects)?;
        }
        Ok(())
    }

    fn same_questions(
        &self,
        round: u32,
        asked: &[(String, Value)],
        said: &Said,
    ) -> Result<(), Failure> {
        let name = &self.cluster.flow.target.name;
        let again = match said {
            Said::Ends(end) => {
                self.note(Who::Server, end.to_string());
                let what =
                    format!("`{name}` goes on without an answer when round {round} is replayed");
                return Err(Failure::new(what, self.cluster.notes.all()).advising(SAME));
            }
            Said::Asks { questions, .. } => questions,
        };
        for (key, request) in again {
            self.note(Who::Server, show::question(key, request));
        }
        if again == asked {
            return Ok(());
        }
        let mut details = String::new();
        for (what, these, those) in [("asked", asked, &again[..]), ("asks ", again, asked)] {
            for question in these.iter().filter(|one| !those.contains(one)) {
                let shown = show::question(&question.0, &question.1);
                let shown = shown.strip_prefix("asks ").unwrap_or(&shown);
                details += &format!("{what} {shown}\n");
            }
        }
        let what = format!("`{name}` asks something else when round {round} is replayed");
        let failure = Failure::new(what, self.cluster.notes.all());
        Err(failure.with(details).advising(SAME))
    }

    fn no_steps(&self, round: u32, since: usize) -> Result<(), Failure> {
        let steps = self.cluster.notes.steps_since(since);
        let Some(step) = steps.first() else {
            return Ok(());
        };
        let name = &self.cluster.flow.target.name;
        let what = format!("`{name}` runs `{step}` when round {round} is replayed");
        Err(Failure::new(what, self.cluster.notes.all()).advising(NAMES))
    }

    fn no_effects(&self, round: u32, before: &[String]) -> Result<(), Failure> {
        let after = self.cluster.effects();
        if after == before {
            return Ok(());
        }
        let name = &self.cluster.flow.target.name;
        let what = format!(
            "`{name}` acts outside a step: it does so again when round {round} is replayed"
        );
        let details = format!("before  {before:?}\nafter   {after:?}");
        let failure = Failure::new(what, self.cluster.notes.all());
        Err(failure.with(details).advising(OUTSIDE))
    }
}

pub(super) const SAME: &str = "A handler begins anew in every round, and is told again what it was told before.\n\
    So what it asks must be made of its arguments, of answers, and of results of steps.\n\
    Take the time from `cx.now`, chance from `cx.random`, and anything else from `cx.step`.";

const NAMES: &str = "A step that has a result does not run again, if it has the same name.\n\
    Make names of arguments, of answers, and of results of steps.";

const OUTSIDE: &str = "A handler begins anew in every round, and so does the code between its steps.\n\
    Put it into `cx.step`, or into `cx.once` if it must not happen twice.";
