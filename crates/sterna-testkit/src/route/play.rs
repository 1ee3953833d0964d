//! One run of a route, as its script has it or with one mishap.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::flow::RouteFlow;
use super::run::{AskedQuestion, RouteEnd, RouteRun};
use super::stage::{RouteResponse, RouteStage};
use crate::answer::{Answer, Script};
use crate::cluster::{CrashPlan, polled};
use crate::failure::Failure;
use crate::notes::Who;

/// Mishap in one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mishap {
    /// Flows with another number than the first have other random values.
    pub(super) after: u32,
    /// The instance dies at this poll.
    pub(super) drop_at: Option<u32>,
    /// The response of this round is lost.
    pub(super) lose: Option<u32>,
    /// Another caller brings the answers of this round first.
    pub(super) other_caller_in: Option<u32>,
    /// After the pause of this round the request is resumed without answers, and
    /// the run ends.
    pub(super) replay: Option<u32>,
    /// The request of this round is sent twice.
    pub(super) twice: Option<u32>,
}

impl RouteFlow {
    /// Plays the request to its end.
    ///
    /// # Panics
    ///
    /// With a [`Failure`]: a question that the script has no answer to or that the
    /// route does not declare, or an answer that was not asked for.
    pub async fn run(&self) -> RouteRun {
        match self.try_run().await {
            Ok(run) => run,
            Err(failure) => failure.raise(),
        }
    }

    /// As [`run`](Self::run), but returns the failure.
    ///
    /// # Errors
    ///
    /// The first [`Failure`].
    pub async fn try_run(&self) -> Result<RouteRun, Failure> {
        play(self, Mishap::default()).await
    }
}

/// Plays a request with one mishap.
pub(super) async fn play(flow: &RouteFlow, mishap: Mishap) -> Result<RouteRun, Failure> {
    let stage = RouteStage::new(flow)?;
    stage.skip_flows(mishap.after);
    let player = RoutePlayer {
        stage,
        mishap,
        script: flow.script.clone(),
        polls: 0,
        has_lost: false,
        questions: Vec::new(),
    };
    player.play().await
}

struct RoutePlayer<'a> {
    stage: RouteStage<'a>,
    mishap: Mishap,
    script: Script,
    polls: u32,
    has_lost: bool,
    questions: Vec<AskedQuestion>,
}

/// Questions of a paused request and its state.
struct Paused {
    token: String,
    questions: Map<String, Value>,
}

impl RoutePlayer<'_> {
    async fn play(mut self) -> Result<RouteRun, Failure> {
        let flow = self.stage.flow;
        let mut resume = None;
        let end = loop {
            let round = self.stage.notes.next_round();
            if round > MOST_ROUNDS {
                return Err(self.failure(format!("`{}` does not come to an end", flow.name())));
            }
            let body = body_with(flow, resume.take());
            if round == 1 {
                let shown = body.as_ref().map_or_else(String::new, Value::to_string);
                self.note(Who::Client, &format!("{} {shown}", flow.name()));
            }
            if self.mishap.other_caller_in == Some(round) {
                self.as_other_caller(body.as_ref()).await?;
            }
            let response = self.deliver(round, body.as_ref()).await?;
            if let Some(question) = self.stage.undeclared() {
                let what = format!("{question}, and the route does not declare it");
                return Err(self.failure(what).advising(DECLARE));
            }
            let Some(paused) = Paused::read(&response) else {
                let RouteResponse { status, text } = response;
                self.note(Who::Server, &format!("{status} {text}"));
                break Some(RouteEnd { status, text });
            };
            if self.mishap.replay == Some(round) {
                self.replay(&paused).await?;
                break None;
            }
            let answers = self.answers(round, &paused)?;
            resume = Some(json!({"token": paused.token, "answers": answers}));
        };
        self.finish(end)
    }

    /// Has an instance answer; if it dies, another one.
    async fn deliver(
        &mut self,
        round: u32,
        body: Option<&Value>,
    ) -> Result<RouteResponse, Failure> {
        let mut is_second = false;
        let mut first: Option<RouteResponse> = None;
        for _ in 0..MOST_DELIVERIES {
            let headers = self.headers();
            let responding = self.stage.send(body, &headers);
            let (mishap, polls) = (self.mishap, &mut self.polls);
            let response = polled(responding, || {
                *polls += 1;
                match mishap.drop_at == Some(*polls) {
                    true => CrashPlan::Die,
                    false => CrashPlan::Live,
                }
            })
            .await;
            let Some(response) = response else {
                let step = self.stage.notes.running();
                let step = step.map_or(String::new(), |step| format!(" in the middle of `{step}`"));
                let died =
                    format!("the instance dies{step}, and the client sends the request again");
                self.note(Who::Kit, &died);
                self.stage.clock.turn_on(LEASES_END);
                continue;
            };
            if is_in_progress(&response) {
                // What a dead instance has begun is another's when its lease ends.
                self.stage.clock.turn_on(LEASES_END);
                continue;
            }
            if self.mishap.lose == Some(round) && !self.has_lost {
                self.has_lost = true;
                let lost = "the response is lost, and the client sends the request again";
                self.note(Who::Kit, lost);
                continue;
            }
            if self.mishap.twice == Some(round) && !is_second {
                is_second = true;
                self.note(Who::Kit, "the client sends the request again");
                first = Some(response);
                continue;
            }
            return match first {
                Some(first) if first != response => {
                    let name = self.stage.flow.name();
                    let what = format!("`{name}` answers an equal request differently");
                    let details = format!("first   {}\nsecond  {}", first.text, response.text);
                    Err(self.failure(what).with(details))
                }
                _ => Ok(response),
            };
        }
        Err(self.failure("an equal request is served without end".to_owned()))
    }

    /// Resumes the request as another caller, who must be refused.
    async fn as_other_caller(&mut self, body: Option<&Value>) -> Result<(), Failure> {
        self.note(Who::Kit, "another caller brings the state and the answers");
        let mut headers = self.headers();
        for (name, value) in &self.stage.flow.other_caller {
            headers.insert(name, value.clone());
        }
        let effects = self.stage.effects();
        let response = self.stage.send(body, &headers).await;
        let is_refused =
            problem(&response).is_some_and(|problem| problem["type"] == RESUME_REFUSED);
        match is_refused && effects == self.stage.effects() {
            true => Ok(()),
            false => {
                let name = self.stage.flow.name();
                let what = format!("`{name}` can be resumed by another caller");
                let details = format!("{} {}", response.status, response.text);
                Err(self.failure(what).with(details).advising(CALLER))
            }
        }
    }

    /// Resumes a paused request without answers: it must ask the same, and do
    /// nothing.
    async fn replay(&mut self, paused: &Paused) -> Result<(), Failure> {
        self.note(Who::Kit, "the client resumes without an answer");
        let (effects, since) = (self.stage.effects(), self.stage.notes.count());
        let flow = self.stage.flow;
        let resume = json!({"token": paused.token, "answers": {}});
        let headers = self.headers();
        let body = body_with(flow, Some(resume));
        let response = self.stage.send(body.as_ref(), &headers).await;
        let name = flow.name();
        let asked = Paused::read(&response).map(|paused| paused.questions);
        if asked.as_ref() != Some(&paused.questions) {
            let details = format!(
                "first  {}\nagain  {}",
                Value::Object(paused.questions.clone()),
                response.text
            );
            let what = format!("`{name}` asks something else when it is replayed");
            return Err(self.failure(what).with(details).advising(SAME));
        }
        let steps = self.stage.notes.steps_since(since);
        if let Some(step) = steps.first() {
            let what = format!("`{name}` runs `{step}` again when it is replayed");
            return Err(self.failure(what).advising(SAME));
        }
        if effects != self.stage.effects() {
            let what = format!("`{name}` has an effect outside of a step when it is replayed");
            return Err(self.failure(what).advising(OUTSIDE));
        }
        Ok(())
    }

    fn answers(&mut self, round: u32, paused: &Paused) -> Result<Map<String, Value>, Failure> {
        let mut answers = Map::new();
        for (key, question) in &paused.questions {
            let message = &question["message"];
            self.note(Who::Server, &format!("asks `{key}`: {message}"));
            let known = self.questions.iter().any(|known| known.key == *key);
            if !known {
                self.questions.push(AskedQuestion {
                    key: key.clone(),
                    round,
                    shown: question.clone(),
                });
            }
            let Some(Answer::Raw(answer)) = self.script.take(key) else {
                let name = self.stage.flow.name();
                let left: Vec<&str> = self.script.left().collect();
                let script = match &left[..] {
                    [] => "The script answers nothing.".to_owned(),
                    left => format!("The script answers: {}.", left.join(", ")),
                };
                let what =
                    format!("`{name}` asks `{key}`, and the script has no answer left to it");
                return Err(self.failure(what).with(script));
            };
            self.note(Who::Client, &format!("answers `{key}`: {answer}"));
            answers.insert(key.clone(), answer);
        }
        Ok(answers)
    }

    fn finish(self, end: Option<RouteEnd>) -> Result<RouteRun, Failure> {
        let flow = self.stage.flow;
        let ambiguous = self.stage.store.ambiguous();
        let is_good = end
            .as_ref()
            .is_some_and(|end| !end.status.is_server_error());
        if is_good
            && ambiguous.is_empty()
            && let Some(key) = self.script.left().next()
        {
            let what = format!(
                "`{}` ended, and never asked for the answer to `{key}`",
                flow.name()
            );
            return Err(self.failure(what));
        }
        Ok(RouteRun {
            name: flow.name(),
            effects: self.stage.effects(),
            steps: self.stage.notes.steps_since(0),
            rounds: self.stage.notes.rounds(),
            notes: self.stage.notes.all(),
            polls: self.polls,
            flow_number: self.stage.flow_number(),
            questions: self.questions,
            end,
            ambiguous,
        })
    }

    fn headers(&self) -> HeaderMap {
        let flow = self.stage.flow;
        let mut headers = flow.headers.clone();
        if flow.has_idempotency_key {
            let key = HeaderValue::from_static("\"testkit\"");
            headers.entry("idempotency-key").or_insert(key);
        }
        headers
    }

    fn note(&self, who: Who, text: &str) {
        self.stage.notes.take(who, text.trim_end());
    }

    fn failure(&self, what: String) -> Failure {
        Failure::new(what, self.stage.notes.all())
    }
}

impl Paused {
    fn read(response: &RouteResponse) -> Option<Self> {
        let mut problem = problem(response)?;
        if problem["type"] != INPUT_REQUIRED {
            return None;
        }
        let Value::Object(questions) = problem["questions"].take() else {
            return None;
        };
        let token = problem["resume"].as_str()?.to_owned();
        Some(Self { token, questions })
    }
}

fn problem(response: &RouteResponse) -> Option<Value> {
    serde_json::from_str(&response.text).ok()
}

fn is_in_progress(response: &RouteResponse) -> bool {
    let is_conflict = response.status == StatusCode::CONFLICT;
    is_conflict && problem(response).is_some_and(|problem| problem["type"] == IN_PROGRESS)
}

/// Returns the body of the request, with the member `resume` if there is one.
fn body_with(flow: &RouteFlow, resume: Option<Value>) -> Option<Value> {
    let Some(resume) = resume else {
        return flow.body.clone();
    };
    let mut body = flow.body.clone().unwrap_or_else(|| json!({}));
    body["resume"] = resume;
    Some(body)
}

const INPUT_REQUIRED: &str = "https://sterna.dev/problems/input-required";
const IN_PROGRESS: &str = "https://sterna.dev/problems/in-progress";
const RESUME_REFUSED: &str = "https://sterna.dev/problems/resume-refused";

const DECLARE: &str = "Declare it where the route is built: `.asks::<T>(\"key\")`, `.asks_secret`, `.asks_json` or `.confirms`.\n\
    The description of the API has what is declared, and only declared secrets are counted (MR0630).";

const CALLER: &str = "The caller must come from what the application has authenticated.";

const SAME: &str = "A handler begins anew in every round: what it asks and the names of its steps must be made of its\n\
    request, of answers, and of results of steps.";

const OUTSIDE: &str = "What changes something outside belongs into `cx.effect` or `cx.once`.";

/// Longer than any lease of a round or of an effect.
const LEASES_END: Duration = Duration::from_secs(120);

const MOST_ROUNDS: u32 = 100;
const MOST_DELIVERIES: u32 = 20;
