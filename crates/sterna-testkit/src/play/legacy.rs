//! A session of 2025-11-25: the server asks while the client waits.

use serde_json::{Value, json};

use super::{finish, unscripted};
use crate::answer::Script;
use crate::cluster::{Cluster, Replica};
use crate::end::RunResult;
use crate::failure::Failure;
use crate::flow::Flow;
use crate::notes::Who;
use crate::run::{Question, Run};
use crate::show;
use crate::wire::{Message, Reply};

/// Plays `flow`. Questions have no names in a session; `known` is the same flow
/// in round trips, where they have.
pub(crate) async fn play(flow: &Flow, known: &Run) -> Result<Run, Failure> {
    let mut cluster = Cluster::new(flow)?;
    let replica = cluster.replica(1)?;
    let mut session = Session {
        id: None,
        script: flow.script.clone(),
        unseen: known.questions.clone(),
        questions: Vec::new(),
        replica,
        cluster,
    };
    let end = match session.open().await? {
        Some(refusal) => refusal,
        None => session.call().await?,
    };
    let Session {
        cluster,
        script,
        questions,
        ..
    } = session;
    cluster.notes.take(Who::Server, end.to_string());
    finish(&cluster, &script, questions, end, 0)
}

struct Session<'a> {
    cluster: Cluster<'a>,
    replica: Replica,
    id: Option<http::HeaderValue>,
    script: Script,
    /// Questions of the flow that have not been asked here.
    unseen: Vec<Question>,
    questions: Vec<Question>,
}

impl Session<'_> {
    /// Opens the session, or says how that was refused.
    async fn open(&mut self) -> Result<Option<RunResult>, Failure> {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": self.cluster.flow.capabilities,
            "clientInfo": {"name": "testkit", "version": "1"},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let mut reply = self.post(&hello).await;
        self.id = reply.headers.get("mcp-session-id").cloned();
        let answer = self.cluster.on_stage(reply.last()).await;
        if let Some(error) = answer.get("error") {
            return Ok(Some(RunResult::error(error)));
        }
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(&ready).await;
        Ok(None)
    }

    async fn call(&mut self) -> Result<RunResult, Failure> {
        let flow = self.cluster.flow;
        let round = self.cluster.notes.next_round();
        let params = flow.target.params(&flow.args);
        let shown = format!("{} {} in a session", flow.target.method, flow.target.name);
        self.cluster.notes.take(Who::Client, shown);
        let call =
            json!({"jsonrpc": "2.0", "id": 1, "method": flow.target.method, "params": params});
        let mut reply = self.post(&call).await;
        while let Some(message) = self.cluster.on_stage(reply.next()).await {
            if let Some(result) = message.get("result") {
                return Ok(RunResult::result(result.clone()));
            }
            if let Some(error) = message.get("error") {
                return Ok(RunResult::error(error));
            }
            // A message without an id is a notification and gets no answer.
            if let Some(id) = message.get("id") {
                self.answer(round, id, &message).await?;
            }
        }
        let text = format!("HTTP status {} and no answer", reply.status);
        Ok(RunResult::error(
            &json!({"code": reply.status, "message": text}),
        ))
    }

    async fn answer(&mut self, round: u32, id: &Value, message: &Value) -> Result<(), Failure> {
        let request = json!({"method": message["method"], "params": message["params"]});
        let unseen = self.unseen.iter();
        let same = unseen
            .clone()
            .position(|known| subject(&known.request) == subject(&request));
        let Some(at) = same else {
            return Err(self.unknown(&request));
        };
        let known = self.unseen.remove(at);
        let key = known.key;
        self.cluster
            .notes
            .take(Who::Server, show::question(&key, &request));
        let answer = self.script.take(&key);
        let answer = answer.ok_or_else(|| unscripted(&self.cluster, &key, &request))?;
        let response = answer.to_wire(&key, &request);
        self.cluster
            .notes
            .take(Who::Client, show::answer(&key, &response));
        self.questions.push(Question {
            key,
            round,
            // As it was in round trips: the older revision spells it in its own way.
            request: known.request,
        });
        let response = json!({"jsonrpc": "2.0", "id": id, "result": response});
        self.post(&response).await;
        Ok(())
    }

    fn unknown(&self, request: &Value) -> Failure {
        let name = &self.cluster.flow.target.name;
        let shown = show::question("?", request);
        self.cluster.notes.take(Who::Server, shown);
        let unseen = self.unseen.iter();
        let unseen = unseen.map(|known| show::question(&known.key, &known.request));
        let unseen: Vec<String> = unseen.collect();
        let details = match &unseen[..] {
            [] => "In round trips it asks nothing more.".to_owned(),
            unseen => format!("In round trips it {}.", unseen.join("\nand ")),
        };
        let what = format!("`{name}` asks in a session what it does not ask in round trips");
        Failure::new(what, self.cluster.notes.all()).with(details)
    }

    async fn post(&self, message: &Value) -> Reply {
        let message = Message::legacy(message, self.id.as_ref());
        self.cluster.send(&self.replica, message, None).await
    }
}

/// The parts that tell one question from another, in either revision.
fn subject(request: &Value) -> (&str, &Value, &Value) {
    let params = &request["params"];
    let method = request["method"].as_str().unwrap_or_default();
    (method, &params["message"], &params["messages"])
}
