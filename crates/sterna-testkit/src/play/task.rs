//! A task: the handler runs in a worker, and the client looks in on it.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::yield_now;

use super::{Said, finish, questions, unscripted};
use crate::answer::Script;
use crate::cluster::{ClockedFuture, Cluster, Replica};
use crate::end::RunResult;
use crate::failure::Failure;
use crate::flow::Flow;
use crate::notes::Who;
use crate::run::{Question, Run};
use crate::show;
use crate::wire::Message;

/// Plays `flow` as a task, and kills its worker at the turn `kill_at`. `None`
/// if it never became one.
pub(crate) async fn play(flow: &Flow, kill_at: Option<u32>) -> Result<Option<Run>, Failure> {
    let mut task = Task::new(flow, kill_at)?;
    let Some(id) = task.call().await? else {
        return Ok(None);
    };
    task.id = id;
    let end = task.follow().await?;
    let Task {
        cluster,
        script,
        questions,
        turns,
        ..
    } = task;
    cluster.notes.take(Who::Server, end.to_string());
    finish(&cluster, &script, questions, end, turns).map(Some)
}

struct Task<'a> {
    cluster: Cluster<'a>,
    replica: Replica,
    worker: ClockedFuture<'static, ()>,
    id: String,
    script: Script,
    questions: Vec<Question>,
    turns: u32,
    kill_at: Option<u32>,
}

impl<'a> Task<'a> {
    fn new(flow: &'a Flow, kill_at: Option<u32>) -> Result<Self, Failure> {
        let mut cluster = Cluster::new(flow)?;
        let replica = cluster.replica(1)?;
        Ok(Self {
            worker: work(&cluster, &replica),
            replica,
            id: String::new(),
            script: flow.script.clone(),
            questions: Vec::new(),
            turns: 0,
            kill_at,
            cluster,
        })
    }

    /// Calls until there is a task, and gives its id. A flow may ask first.
    async fn call(&mut self) -> Result<Option<String>, Failure> {
        let target = &self.cluster.flow.target;
        self.cluster.notes.next_round();
        let shown = format!("{} {} as a task", target.method, target.name);
        self.cluster.notes.take(Who::Client, shown);
        let mut params = target.params(&self.cluster.flow.args);
        loop {
            let message = self.send(target.method, params.clone()).await;
            let Said::Asks { questions, state } = Said::read(&message) else {
                let id = message["result"]["taskId"].as_str();
                return Ok(id.map(ToOwned::to_owned));
            };
            params["inputResponses"] = Value::Object(self.answers(questions)?);
            params["requestState"] = state.unwrap_or_default();
        }
    }

    async fn follow(&mut self) -> Result<RunResult, Failure> {
        let flow = self.cluster.flow;
        let mut idle = 0;
        loop {
            let shown = self.send("tasks/get", json!({"taskId": self.id})).await;
            let task = &shown["result"];
            match task["status"].as_str() {
                Some("completed") => return Ok(RunResult::result(task["result"].clone())),
                Some("failed") => return Ok(RunResult::error(&task["error"])),
                Some("cancelled") => return Ok(RunResult::Gone),
                Some("input_required") if self.answer(task).await? => idle = 0,
                Some(_) => idle += 1,
                None => return Ok(RunResult::error(&shown["error"])),
            }
            if idle > MOST_IDLE {
                let what = format!("`{}` does not come to an end as a task", flow.target.name);
                return Err(Failure::new(what, self.cluster.notes.all()));
            }
            self.turn(idle).await?;
        }
    }

    /// Lets the worker go on for a moment, unless it is to die.
    async fn turn(&mut self, idle: u32) -> Result<(), Failure> {
        if idle <= PATIENCE {
            self.turns += 1;
            if self.kill_at == Some(self.turns) {
                return self.kill().await;
            }
        }
        self.nudge().await;
        yield_now().await;
        if idle > PATIENCE {
            // Nothing is ready: it waits for a clock, or for something outside.
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(2)) => {}
                () = &mut self.worker => {}
            }
            if !self.cluster.store.is_worked_on() {
                let doublings = (idle - PATIENCE).min(26);
                self.cluster
                    .clock
                    .turn_on(Duration::from_millis(1 << doublings));
            }
        }
        Ok(())
    }

    /// Polls the worker once.
    async fn nudge(&mut self) {
        let worker = &mut self.worker;
        poll_fn(|cx| {
            // It ends only when its server does.
            let _ = worker.as_mut().poll(cx);
            Poll::Ready(())
        })
        .await;
    }

    /// Kills the worker where it stands, and has another replica take over.
    async fn kill(&mut self) -> Result<(), Failure> {
        let step = self.cluster.notes.running();
        let step = step.map_or(String::new(), |step| format!(" in the middle of `{step}`"));
        let died = format!("the worker dies{step}, and another one takes over");
        self.cluster.notes.take(Who::Kit, died);
        self.replica = self.cluster.replica(self.cluster.notes.rounds())?;
        // Dropping the worker drops what it runs, once the runtime has seen to it.
        self.worker = Box::pin(std::future::pending());
        for _ in 0..8 {
            yield_now().await;
        }
        self.cluster.store.bury_workers();
        self.cluster.clock.turn_on(LEASE);
        self.worker = work(&self.cluster, &self.replica);
        Ok(())
    }

    /// Answers what is open; says whether there was anything.
    async fn answer(&mut self, task: &Value) -> Result<bool, Failure> {
        let answers = self.answers(questions(task))?;
        if answers.is_empty() {
            return Ok(false);
        }
        let params = json!({"taskId": self.id, "inputResponses": answers});
        self.send("tasks/update", params).await;
        Ok(true)
    }

    /// The answers to what has not been answered, which begin a round.
    fn answers(&mut self, asked: Vec<(String, Value)>) -> Result<Map<String, Value>, Failure> {
        let mut answers = Map::new();
        let round = self.cluster.notes.rounds();
        for (key, request) in asked {
            let known = self.questions.iter().any(|question| question.key == key);
            if known {
                continue;
            }
            self.cluster
                .notes
                .take(Who::Server, show::question(&key, &request));
            let answer = self.script.take(&key);
            let answer = answer.ok_or_else(|| unscripted(&self.cluster, &key, &request))?;
            answers.insert(key.clone(), answer.to_wire(&key, &request));
            self.questions.push(Question {
                key,
                round,
                request,
            });
        }
        if answers.is_empty() {
            return Ok(answers);
        }
        self.cluster.notes.next_round();
        for (key, answer) in &answers {
            self.cluster
                .notes
                .take(Who::Client, show::answer(key, answer));
        }
        Ok(answers)
    }

    async fn send(&mut self, method: &str, params: Value) -> Value {
        let mut capabilities = self.cluster.flow.capabilities.clone();
        capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
        let message = Message::modern(method, params, &capabilities);
        let sending = self.cluster.send(&self.replica, message, None);
        let reading = self.cluster.on_stage(async { sending.await.last().await });
        tokio::select! {
            biased;
            message = reading => message,
            () = &mut self.worker => json!({"error": {"code": 0, "message": "the worker has ended"}}),
        }
    }
}

fn work(cluster: &Cluster<'_>, replica: &Replica) -> ClockedFuture<'static, ()> {
    let service = replica.service.clone();
    cluster.on_stage(async move { service.work().await })
}

/// Longer than a worker may be silent.
const LEASE: Duration = Duration::from_secs(31);

/// Turns in which nothing happens before time is made to pass. To be killed
/// later in the same wait would show nothing new.
const PATIENCE: u32 = 24;

/// Turns in which nothing happens before the flow is given up.
const MOST_IDLE: u32 = 5_000;
