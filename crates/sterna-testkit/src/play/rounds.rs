//! Round trips: requests of 2026-07-28, each to a replica of its own.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Plan, Said, Shed, finish, unscripted};
use crate::answer::Script;
use crate::cluster::{Cluster, CrashPlan, polled};
use crate::end::RunResult;
use crate::failure::Failure;
use crate::flow::Flow;
use crate::notes::Who;
use crate::round::Round;
use crate::run::{Question, Run};
use crate::show;
use crate::wire::Message;

pub(crate) async fn play(flow: &Flow, plan: Plan) -> Result<Run, Failure> {
    let mut cluster = Cluster::new(flow)?;
    cluster.fresh_replica_each_time = !plan.is_scripted;
    cluster.skip_flows(plan.after);
    if plan.shed != Shed::Never || plan.replay.is_some() {
        cluster.spare_rounds = SPARE;
    }
    let player = Player {
        cluster,
        plan,
        script: flow.script.clone(),
        polls: 0,
        has_lost: false,
        questions: Vec::new(),
        unanswered: BTreeSet::new(),
        sent: Vec::new(),
    };
    player.play().await
}

pub(super) struct Player<'a> {
    pub(super) cluster: Cluster<'a>,
    plan: Plan,
    script: Script,
    polls: u32,
    has_lost: bool,
    questions: Vec<Question>,
    /// The questions that the client left unanswered in the round before.
    unanswered: BTreeSet<String>,
    /// The parameters of every round.
    sent: Vec<Value>,
}

impl Player<'_> {
    async fn play(mut self) -> Result<Run, Failure> {
        let flow = self.cluster.flow;
        let (mut state, mut answers) = (None, None);
        let end = loop {
            let round = self.cluster.notes.next_round();
            if round > MOST_ROUNDS {
                let what = format!("`{}` does not come to an end", flow.target.name);
                return Err(Failure::new(what, self.cluster.notes.all()));
            }
            let act = match self.plan.is_scripted {
                true => flow.rounds.get(&round).cloned().unwrap_or_default(),
                false => Round::default(),
            };
            if act.is_never {
                self.note(Who::Client, "never comes");
                break RunResult::Gone;
            }
            let params = self.params(&act, state.take(), answers.take());
            self.cluster.clock.turn_on(act.wait);
            let mut message = self.deliver(round, &act, &params).await?;
            if act.is_twice || act.is_lost {
                let fate = match act.is_lost {
                    true => "the response is lost, and the client sends the request again",
                    false => "the client sends the request again",
                };
                self.note(Who::Kit, fate);
                message = self.deliver(round, &act, &params).await?;
            }
            match Said::read(&message) {
                Said::Ends(end) => {
                    self.note(Who::Server, end.to_string());
                    break end;
                }
                Said::Asks {
                    questions,
                    state: next,
                } => {
                    if self.plan.replay == Some(round) {
                        self.replay(round, next.as_ref(), &questions).await?;
                        break RunResult::Gone;
                    }
                    answers = Some(self.answer(round, &questions)?);
                    state = next;
                }
            }
        };
        finish(&self.cluster, &self.script, self.questions, end, self.polls)
    }

    /// The parameters of a round; notes what the client sends.
    fn params(
        &mut self,
        act: &Round,
        state: Option<Value>,
        answers: Option<Map<String, Value>>,
    ) -> Value {
        let flow = self.cluster.flow;
        let args = act.args.as_ref().unwrap_or(&flow.args);
        let mut params = flow.target.params(args);
        if !act.wait.is_zero() {
            self.note(Who::Client, format!("waits for {:?}", act.wait));
        }
        if let Some(before) = act.replayed {
            self.note(Who::Client, format!("sends round {before} once more"));
            let before = before.saturating_sub(1) as usize;
            params = self.sent.get(before).cloned().unwrap_or(params);
            self.sent.push(params.clone());
            return params;
        }
        if state.is_none() || act.args.is_some() {
            let shown = match flow.target.method {
                "resources/read" => String::new(),
                _ => format!(" {args}"),
            };
            let call = format!("{} {}{shown}", flow.target.method, flow.target.name);
            self.note(Who::Client, call);
        }
        let mut answers = answers.unwrap_or_default();
        answers.retain(|key, _| !act.withheld.contains(key));
        answers.extend(act.volunteered.iter().cloned());
        if state.is_some() && answers.is_empty() {
            self.note(Who::Client, "comes again");
        }
        for (key, answer) in &answers {
            self.note(Who::Client, show::answer(key, answer));
        }
        if let Some(state) = state {
            params["requestState"] = match act.is_tampered {
                true => tamper(&state),
                false => state,
            };
            params["inputResponses"] = Value::Object(answers);
        } else if !answers.is_empty() {
            params["inputResponses"] = Value::Object(answers);
        }
        if act.is_tampered {
            self.note(Who::Kit, "one character of the state is changed");
        }
        self.sent.push(params.clone());
        params
    }

    /// Has a replica answer; if it dies, another one.
    async fn deliver(&mut self, round: u32, act: &Round, params: &Value) -> Result<Value, Failure> {
        loop {
            let cluster = &mut self.cluster;
            let replica = match act.is_stranger {
                true => cluster.replica_with_other_keys(round)?,
                false => cluster.replica(round)?,
            };
            let flow = cluster.flow;
            let capabilities = act.declared.as_ref().unwrap_or(&flow.capabilities);
            let message = Message::modern(flow.target.method, params.clone(), capabilities);
            let sending = cluster.send(&replica, message, act.caller.as_ref());
            let reading = cluster.on_stage(async { sending.await.last().await });
            let (plan, polls) = (self.plan, &mut self.polls);
            let shutdown = replica.service.shutdown().clone();
            let reply = polled(reading, || {
                *polls += 1;
                let sheds = match plan.shed {
                    Shed::Always => true,
                    Shed::At(poll) => *polls == poll,
                    Shed::Never => false,
                };
                if sheds {
                    shutdown.begin();
                }
                match plan.drop_at == Some(*polls) {
                    true => CrashPlan::Die,
                    false => CrashPlan::Live,
                }
            })
            .await;
            match reply {
                None => self.died(),
                Some(_) if plan.lose == Some(round) && !self.has_lost => {
                    self.has_lost = true;
                    let lost = "the response is lost, and the client sends the request again";
                    self.note(Who::Kit, lost);
                }
                Some(message) => return Ok(message),
            }
        }
    }

    fn died(&self) {
        let step = self.cluster.notes.running();
        let step = step.map_or(String::new(), |step| format!(" in the middle of `{step}`"));
        let died = format!("the replica dies{step}, and the client sends the request again");
        self.note(Who::Kit, died);
    }

    /// The answers to `questions`, as far as they are due.
    fn answer(
        &mut self,
        round: u32,
        questions: &[(String, Value)],
    ) -> Result<Map<String, Value>, Failure> {
        if questions.is_empty() {
            self.note(Who::Server, "sends the client to another replica");
        }
        for (key, request) in questions {
            self.note(Who::Server, show::question(key, request));
            if !self.unanswered.contains(key) {
                self.questions.push(Question {
                    key: key.clone(),
                    round,
                    request: request.clone(),
                });
            }
        }
        let next = self.cluster.flow.rounds.get(&(round + 1));
        let withheld = next.filter(|_| self.plan.is_scripted);
        self.unanswered.clear();
        let mut answers = Map::new();
        for (key, request) in questions {
            // What is left out of the next round is answered in a later one.
            if withheld.is_some_and(|round| round.withheld.contains(key) || round.is_never) {
                self.unanswered.insert(key.clone());
                continue;
            }
            let answer = self.script.take(key);
            let answer = answer.ok_or_else(|| unscripted(&self.cluster, key, request))?;
            answers.insert(key.clone(), answer.to_wire(key, request));
        }
        Ok(answers)
    }

    pub(super) fn note(&self, who: Who, text: impl Into<String>) {
        self.cluster.notes.take(who, text);
    }
}

/// Changes one character in the middle.
fn tamper(state: &Value) -> Value {
    let text = state.as_str().unwrap_or_default();
    let middle = text.len() / 2;
    let change = |(at, letter)| match (at == middle, letter) {
        (true, 'A') => 'B',
        (true, _) => 'A',
        (false, letter) => letter,
    };
    Value::String(text.chars().enumerate().map(change).collect())
}

/// Rounds that the kit may add to those of a flow: a replay, or two empty rounds
/// for every question.
const SPARE: u32 = 40;

/// Far more than any client plays.
const MOST_ROUNDS: u32 = 60;
