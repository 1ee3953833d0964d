//! Playing a flow, in each of the ways a client can have it run.

pub(crate) mod legacy;
mod replay;
pub(crate) mod rounds;
pub(crate) mod task;

use serde_json::Value;

use crate::answer::{Script, plain};
use crate::cluster::Cluster;
use crate::end::RunResult;
use crate::failure::Failure;
use crate::flow::{ExecutionMode, Flow};
use crate::run::{Question, Run};
use crate::show;

impl Flow {
    /// Runs it once.
    ///
    /// # Panics
    ///
    /// With a [`Failure`] if it asks a question that the script does not answer, or
    /// ends without asking one that the script answers.
    pub async fn run(&self) -> Run {
        match self.try_run().await {
            Ok(run) => run,
            Err(failure) => failure.raise(),
        }
    }

    /// As [`run`](Self::run), but returns the failure.
    ///
    /// # Errors
    ///
    /// [`Failure`] says what did not go by the script.
    pub async fn try_run(&self) -> Result<Run, Failure> {
        run(self).await
    }
}

/// Faults and variations of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    /// `true` if the client misbehaves as the author says; `false` if it behaves
    /// well.
    pub(crate) is_scripted: bool,
    /// The replica dies before this poll.
    pub(crate) drop_at: Option<u32>,
    /// The response of this round is lost.
    pub(crate) lose: Option<u32>,
    /// This round is replayed, and then it is over.
    pub(crate) replay: Option<u32>,
    pub(crate) shed: Shed,
    /// The flow is the one after so many others.
    pub(crate) after: u32,
}

/// When a replica sends a flow away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shed {
    Always,
    /// From this poll on.
    At(u32),
    #[default]
    Never,
}

/// Plays a flow as its author says.
pub(crate) async fn run(flow: &Flow) -> Result<Run, Failure> {
    if let Some(why) = &flow.unwritable {
        let what = format!("an argument or an answer cannot be written as JSON: {why}");
        return Err(Failure::new(what, Vec::new()));
    }
    match flow.mode {
        ExecutionMode::RoundTrips => {
            let plan = Plan {
                is_scripted: true,
                ..Plan::default()
            };
            rounds::play(flow, plan).await
        }
        ExecutionMode::Legacy => {
            let known = rounds::play(flow, Plan::default()).await?;
            legacy::play(flow, &known).await
        }
        ExecutionMode::Task => match task::play(flow, None).await? {
            Some(run) => Ok(run),
            None => {
                let what = format!("`{}` does not run as a task", flow.target.name);
                Err(Failure::new(what, Vec::new()).advising(NO_TASK))
            }
        },
    }
}

const NO_TASK: &str =
    "A tool runs as a task if it was made with `Tool::task`, and prompts and resources never do.";

/// The response of a server to a request.
pub(crate) enum Said {
    Asks {
        questions: Vec<(String, Value)>,
        state: Option<Value>,
    },
    Ends(RunResult),
}

impl Said {
    /// Reads the answer of a server to a request.
    pub(crate) fn read(message: &Value) -> Self {
        let Some(result) = message.get("result") else {
            return Self::Ends(RunResult::error(&message["error"]));
        };
        if result["resultType"] != "input_required" {
            return Self::Ends(RunResult::result(result.clone()));
        }
        Self::Asks {
            questions: questions(result),
            state: result.get("requestState").cloned(),
        }
    }
}

/// The questions in a result, by their keys.
pub(crate) fn questions(result: &Value) -> Vec<(String, Value)> {
    let requests = result["inputRequests"].as_object();
    let requests = requests.into_iter().flatten();
    requests
        .map(|(key, request)| (key.clone(), request.clone()))
        .collect()
}

/// The script has no answer to a question.
pub(crate) fn unscripted(cluster: &Cluster<'_>, key: &str, request: &Value) -> Failure {
    let name = &cluster.flow.target.name;
    let left: Vec<&str> = cluster.flow.script.left().collect();
    let script = match &left[..] {
        [] => "The script answers nothing.".to_owned(),
        left => format!("The script answers: {}.", left.join(", ")),
    };
    // Asked again, and not because the answer did not fit.
    let message = request["params"]["message"].as_str().unwrap_or_default();
    let is_reworded = plain(key) != key && !message.contains("The last answer was not accepted");
    Failure::new(
        format!("`{name}` asks `{key}`, and the script has no answer left to it"),
        cluster.notes.all(),
    )
    .advising(if is_reworded { replay::SAME } else { "" })
    .with(format!("It {}.\n{script}", show::question(key, request)))
}

/// Ends a run, if its script has been played.
pub(crate) fn finish(
    cluster: &Cluster<'_>,
    script: &Script,
    questions: Vec<Question>,
    end: RunResult,
    polls: u32,
) -> Result<Run, Failure> {
    let notes = cluster.notes.all();
    let name = &cluster.flow.target.name;
    let ambiguous = cluster.store.ambiguous();
    // Who does not know whether it has happened may well ask nothing more.
    if end.uses_script()
        && ambiguous.is_empty()
        && let Some(key) = script.left().next()
    {
        let what = format!("`{name}` ended, and never asked for the answer to `{key}`");
        return Err(Failure::new(what, notes));
    }
    Ok(Run {
        target: name.clone(),
        questions,
        steps: cluster.notes.steps_since(0),
        effects: cluster.effects(),
        end,
        rounds: cluster.notes.rounds(),
        notes,
        polls,
        ambiguous,
        flow_number: cluster.flow_number(),
    })
}
