//! A server of 2025-11-25 whose one tool asks in the middle of its call, with an
//! event store as the SDKs have it: its streams can be resumed.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::{Body, Bytes};
use futures::stream;
use serde_json::{Value, json};
use sterna_client::{Builder, Client, Era};
use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability};
use sterna_protocol::json::JsonObject;
use tokio::sync::watch;

use crate::world::{Reply, serve};

/// Behaviour of the server.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// Events of the call, and after each answer.
    pub(crate) steps: Vec<Vec<Value>>,
    /// Event ids are sent.
    pub(crate) ids: bool,
    /// A resumed stream delivers later events too, not only stored ones.
    pub(crate) live: bool,
    /// A replay begins with the event that was named, or with the first of all.
    pub(crate) replays: Replays,
    /// Bytes of a chunk.
    pub(crate) chunk: usize,
}

/// First event of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replays {
    After,
    From,
    All,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            steps: vec![vec![ask(0, "name")], vec![done("hello")]],
            ids: true,
            live: true,
            replays: Replays::After,
            chunk: usize::MAX,
        }
    }
}

/// A server with an event store.
#[derive(Clone)]
pub(crate) struct EventStore {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    events: Arc<watch::Sender<usize>>,
    settings: Arc<Store>,
}

#[derive(Default)]
struct State {
    events: Vec<String>,
    call: Value,
    answered: BTreeSet<String>,
    seen: Vec<Request>,
    outside: Vec<Value>,
    /// No session is known any more.
    gone: bool,
    /// The events are no longer stored.
    forgotten: bool,
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) session: Option<String>,
    pub(crate) cookie: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) body: Value,
}

impl EventStore {
    pub(crate) async fn start(settings: Store) -> Self {
        let mut server = Self {
            url: String::new(),
            state: Arc::default(),
            events: Arc::new(watch::Sender::new(0)),
            settings: Arc::new(settings),
        };
        let serving = server.clone();
        let origin = serve(move |asked| {
            let server = serving.clone();
            let header = |name| asked.header(name).map(str::to_owned);
            let request = Request {
                session: header("mcp-session-id"),
                cookie: header("cookie"),
                event: header("last-event-id"),
                body: serde_json::from_str(&asked.body).unwrap_or_default(),
                method: asked.method.clone(),
            };
            async move { server.reply(request).await }
        })
        .await;
        server.url = format!("{origin}/mcp");
        server
    }

    async fn reply(&self, request: Request) -> Reply {
        let gone = {
            let mut state = self.lock();
            state.seen.push(request.clone());
            state.gone
        };
        let body = &request.body;
        match (request.method.as_str(), body["method"].as_str()) {
            ("POST", Some("initialize")) => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "old", "version": "1"}});
                let body = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
                let reply = Reply::json(200, &body).with("mcp-session-id", "session one");
                reply.with("set-cookie", "route=seven; Path=/")
            }
            _ if gone => Reply::status(404),
            ("POST", Some("tools/call")) => {
                self.lock().call = body["id"].clone();
                self.push(&[Value::Null]);
                self.push(&self.settings.steps[0]);
                self.stream(0, true)
            }
            ("POST", None) if body.get("result").is_some() => {
                let answered = {
                    let mut state = self.lock();
                    // A second answer to a question is ignored.
                    let new = state.answered.insert(body["id"].to_string());
                    new.then_some(state.answered.len())
                };
                let step = answered.and_then(|step| self.settings.steps.get(step));
                self.push(step.map_or(&[][..], |step| &step[..]));
                Reply::status(202)
            }
            ("POST", Some("prompts/get")) => {
                let body = json!({"jsonrpc": "2.0", "id": body["id"], "result": {"messages": []}});
                Reply::json(200, &body)
            }
            ("POST", _) => Reply::status(202),
            ("GET", _) => match request.event.as_deref() {
                Some(event) if !self.lock().forgotten => match event.strip_prefix('e') {
                    Some(number) => {
                        let number: usize = number.parse().unwrap();
                        let first = match self.settings.replays {
                            Replays::After => number + 1,
                            Replays::From => number,
                            Replays::All => 0,
                        };
                        self.stream(first, self.settings.live)
                    }
                    None => panic!("an event id of another server: {event}"),
                },
                // As the SDKs do: not even a header.
                Some(_) => std::future::pending().await,
                None => self.outside(),
            },
            _ => Reply::status(200),
        }
    }

    /// Stores events, and sends them to those who listen.
    pub(crate) fn push(&self, events: &[Value]) {
        let mut state = self.lock();
        for event in events {
            let number = state.events.len();
            let mut event = event.clone();
            if event.get("id") == Some(&json!("THE CALL")) {
                event["id"] = state.call.clone();
            }
            let data = match event {
                Value::Null => String::new(),
                event => event.to_string(),
            };
            let id = match self.settings.ids {
                true => format!("id: e{number}\n"),
                false => String::new(),
            };
            state.events.push(format!("{id}data: {data}\n\n"));
        }
        self.events.send_replace(state.events.len());
    }

    /// The events from `first` on.
    fn stream(&self, first: usize, live: bool) -> Reply {
        let (server, changes) = (self.clone(), self.events.subscribe());
        let events = stream::unfold((first, changes), move |(mut next, mut changes)| {
            let server = server.clone();
            async move {
                loop {
                    let stored = server.lock().events.get(next).cloned();
                    if let Some(event) = stored {
                        next += 1;
                        return Some((event, (next, changes)));
                    }
                    match live {
                        true => changes.changed().await.unwrap(),
                        false => std::future::pending().await,
                    }
                }
            }
        });
        let size = self.settings.chunk;
        let chunks = futures::StreamExt::flat_map(events, move |event| {
            let bytes = event.into_bytes();
            let chunks: Vec<_> = bytes
                .chunks(size.min(bytes.len()))
                .map(|chunk| Ok::<_, Infallible>(Bytes::copy_from_slice(chunk)))
                .collect();
            stream::iter(chunks)
        });
        let reply = Reply::status(200).with("content-type", "text/event-stream");
        reply.body(Body::from_stream(chunks))
    }

    /// Asks on the stream of the session, once there is a call.
    pub(crate) fn ask_outside(&self, questions: Vec<Value>) {
        self.lock().outside = questions;
    }

    fn outside(&self) -> Reply {
        let questions = std::mem::take(&mut self.lock().outside);
        if questions.is_empty() {
            return Reply::status(405);
        }
        let mut events = self.events.subscribe();
        let questions = stream::once(async move {
            events.wait_for(|count| *count > 0).await.unwrap();
            let events = questions
                .iter()
                .map(|question| format!("data: {question}\n\n"));
            Ok::<_, Infallible>(events.collect::<String>())
        });
        let reply = Reply::status(200).with("content-type", "text/event-stream");
        let open = futures::StreamExt::chain(questions, stream::pending());
        reply.body(Body::from_stream(open))
    }

    /// Ends all sessions.
    pub(crate) fn end_sessions(&self) {
        self.lock().gone = true;
    }

    /// Forgets the stored events, but no session.
    pub(crate) fn forget_events(&self) {
        self.lock().forgotten = true;
    }

    /// Requests of this HTTP method, and of this method of the protocol if named.
    pub(crate) fn seen(&self, http: &str, method: Option<&str>) -> Vec<Request> {
        let state = self.lock();
        let these = state.seen.iter().filter(|seen| {
            seen.method == http && method.is_none_or(|method| seen.body["method"] == method)
        });
        these.cloned().collect()
    }

    /// Answers to questions, in the order in which they came.
    pub(crate) fn answers(&self) -> Vec<Value> {
        let posted = self.seen("POST", None).into_iter();
        let answers = posted.filter(|seen| seen.body.get("result").is_some());
        answers.map(|seen| seen.body).collect()
    }

    pub(crate) fn cancellations(&self) -> usize {
        self.seen("POST", Some("notifications/cancelled")).len()
    }

    /// A client without handlers whose session declares all kinds of questions.
    pub(crate) async fn client(&self) -> Client {
        builder(&self.url).connect().await.unwrap()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// A client that answers by itself.
pub(crate) fn builder(url: &str) -> Builder {
    let mut declared = ClientCapabilities::default();
    declared.elicitation = Some(ElicitationCapability::form_and_url());
    declared.roots = Some(JsonObject::new());
    Client::builder(url)
        .era(Era::Legacy)
        .session_capabilities(declared)
}

/// A form with one field.
pub(crate) fn ask(id: u64, field: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {
        "message": format!("What is the {field}?"),
        "requestedSchema": {"type": "object", "properties": {field: {"type": "string"}}}}})
}

/// The result of the call.
pub(crate) fn done(text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "THE CALL",
        "result": {"content": [{"type": "text", "text": text}]}})
}

/// The server gives a question up.
pub(crate) fn withdrawn(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}
