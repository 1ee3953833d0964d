//! A server of 2025-11-25 that keeps an event store, as the SDKs have it: any
//! connection that knows its session, an event and a question can go on with a
//! call.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use sterna_client::Era;
use sterna_gateway::UpstreamConfig;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use crate::upstream::at;

/// Behaviour of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Events {
    /// A resumed stream delivers later events too.
    Live,
    /// Streams have no event ids: nothing can be resumed.
    None,
    /// A resumed stream delivers what is stored, and later events to the next
    /// connection only.
    Stored,
}

pub(crate) struct Resumable {
    pub(crate) config: UpstreamConfig,
    pub(crate) server: Arc<Server>,
    serving: JoinSet<()>,
}

pub(crate) struct Server {
    events: Events,
    /// Effects of the tool.
    pub(crate) greeted: AtomicUsize,
    /// The tool does not end after its effect.
    pub(crate) hangs: AtomicBool,
    /// The second question has other words.
    pub(crate) insists: AtomicBool,
    /// The first question is longer than any state.
    pub(crate) is_long: AtomicBool,
    /// The server asks for the roots as soon as it can.
    pub(crate) asks_for_roots: AtomicBool,
    pub(crate) cancelled: AtomicUsize,
    /// Streams that were resumed.
    pub(crate) resumed: AtomicUsize,
    tables: Mutex<Tables>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Tables {
    sessions: BTreeSet<String>,
    opened: usize,
    streams: Vec<Vec<String>>,
    /// Roots that clients told.
    roots: Vec<Value>,
    questions: BTreeMap<u64, Question>,
    asked: u64,
    calls: BTreeMap<(String, String), JoinSet<()>>,
}

struct Question {
    session: String,
    /// `None` once it is answered.
    reply: Option<oneshot::Sender<Value>>,
}

impl Resumable {
    pub(crate) async fn start(name: &str, events: Events) -> Self {
        let server = Arc::new(Server {
            events,
            greeted: AtomicUsize::new(0),
            hangs: AtomicBool::new(false),
            insists: AtomicBool::new(false),
            is_long: AtomicBool::new(false),
            asks_for_roots: AtomicBool::new(false),
            cancelled: AtomicUsize::new(0),
            resumed: AtomicUsize::new(0),
            tables: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = Router::new().route("/mcp", any(answer));
        let router = router.with_state(Arc::clone(&server));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            config: at(name, &url, Era::Any),
            server,
            serving,
        }
    }

    pub(crate) fn greeted(&self) -> usize {
        self.server.greeted.load(Ordering::SeqCst)
    }

    pub(crate) fn cancelled(&self) -> usize {
        self.server.cancelled.load(Ordering::SeqCst)
    }

    pub(crate) fn resumed(&self) -> usize {
        self.server.resumed.load(Ordering::SeqCst)
    }

    /// Sessions that were opened so far.
    pub(crate) fn sessions(&self) -> usize {
        self.server.lock().opened
    }

    /// Roots that clients told so far.
    pub(crate) fn roots(&self) -> Vec<Value> {
        self.server.lock().roots.clone()
    }

    /// Ends all sessions, as a restart does.
    pub(crate) fn forget_sessions(&self) {
        self.server.lock().sessions.clear();
    }

    pub(crate) async fn stop(&mut self) {
        self.serving.shutdown().await;
    }
}

async fn answer(
    State(server): State<Arc<Server>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name| headers.get(name).map(|value| value.to_str().unwrap());
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if body["method"] == "initialize" {
        return server.initialize(&body);
    }
    let Some(session) = header("mcp-session-id") else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if !server.lock().sessions.contains(session) {
        return StatusCode::NOT_FOUND.into_response();
    }
    // A balancer would not find the session without it.
    assert_eq!(header("cookie"), Some("route=seven"));
    match method {
        Method::GET => match header("last-event-id") {
            Some(event) => server.resume(event).await,
            None if server.asks_for_roots.load(Ordering::SeqCst) => server.ask_for_roots(session),
            None => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        },
        Method::DELETE => {
            server.lock().sessions.remove(session);
            StatusCode::OK.into_response()
        }
        _ => server.post(session, &body),
    }
}

impl Server {
    fn initialize(&self, body: &Value) -> Response {
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "resumable", "version": "1"}});
        let reply = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
        let mut tables = self.lock();
        tables.opened += 1;
        let session = format!("session-{}", tables.opened);
        tables.sessions.insert(session.clone());
        let headers = [
            ("mcp-session-id", session.as_str()),
            ("set-cookie", "route=seven; Path=/"),
            ("content-type", "application/json"),
        ];
        (headers, reply.to_string()).into_response()
    }

    fn post(self: &Arc<Self>, session: &str, body: &Value) -> Response {
        let id = &body["id"];
        match body["method"].as_str() {
            Some("tools/list") => {
                let tool = json!({"name": "greet", "inputSchema": {"type": "object"},
                    "annotations": {"idempotentHint": true}});
                let stream = self.open();
                let result = json!({"tools": [tool]});
                self.push(
                    stream,
                    &json!({"jsonrpc": "2.0", "id": id, "result": result}),
                );
                self.events(stream, 0, true)
            }
            Some("tools/call") => {
                let stream = self.open();
                let mut work = JoinSet::new();
                let (server, owner) = (Arc::clone(self), session.to_owned());
                let call = id.clone();
                work.spawn(async move {
                    let text = server.greet(&owner, stream).await;
                    let result = json!({"content": [{"type": "text", "text": text}]});
                    let done = json!({"jsonrpc": "2.0", "id": call, "result": result});
                    server.push(stream, &done);
                });
                let key = (session.to_owned(), id.to_string());
                self.lock().calls.insert(key, work);
                self.events(stream, 0, true)
            }
            Some("notifications/cancelled") => {
                let call = body["params"]["requestId"].to_string();
                let key = (session.to_owned(), call);
                if self.lock().calls.remove(&key).is_some() {
                    self.cancelled.fetch_add(1, Ordering::SeqCst);
                }
                StatusCode::ACCEPTED.into_response()
            }
            Some(method) if !id.is_null() => {
                let error = json!({"code": -32601, "message": method});
                let reply = json!({"jsonrpc": "2.0", "id": id, "error": error});
                ([("content-type", "application/json")], reply.to_string()).into_response()
            }
            Some(_) => StatusCode::ACCEPTED.into_response(),
            None => {
                let asked = id.as_u64().unwrap();
                let reply = {
                    let mut tables = self.lock();
                    let question = tables.questions.get_mut(&asked).unwrap();
                    assert_eq!(question.session, session, "an answer in another session");
                    question.reply.take()
                };
                // A second answer is ignored.
                if let Some(reply) = reply {
                    reply.send(body["result"].clone()).ok();
                }
                StatusCode::ACCEPTED.into_response()
            }
        }
    }

    /// The tool: asks twice, then has its effect.
    async fn greet(&self, session: &str, stream: usize) -> String {
        let first = match self.is_long.load(Ordering::SeqCst) {
            true => "Who are you? ".repeat(10_000),
            false => "Who are you?".to_owned(),
        };
        let name = self.ask(session, stream, &first).await;
        if name["action"] != "accept" {
            return "The user declined.".to_owned();
        }
        let name = name["content"]["name"].as_str().unwrap().to_owned();
        let again = match self.insists.load(Ordering::SeqCst) {
            true => format!("{name}, are you really sure?"),
            false => format!("{name}, really?"),
        };
        let again = self.ask(session, stream, &again).await;
        self.greeted.fetch_add(1, Ordering::SeqCst);
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let again = again["content"]["name"].as_str().unwrap();
        format!("Hello, {again}!")
    }

    async fn ask(&self, session: &str, stream: usize, text: &str) -> Value {
        let (id, answered) = self.question(session);
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let params = json!({"message": text, "requestedSchema": schema});
        let question =
            json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params});
        self.push(stream, &question);
        answered.await.unwrap()
    }

    /// The id of a new question, and its answer.
    fn question(&self, session: &str) -> (u64, oneshot::Receiver<Value>) {
        let (reply, answered) = oneshot::channel();
        let mut tables = self.lock();
        tables.asked += 1;
        let question = Question {
            session: session.to_owned(),
            reply: Some(reply),
        };
        let id = tables.asked;
        tables.questions.insert(id, question);
        (id, answered)
    }

    /// Asks for the roots on the stream of the session.
    fn ask_for_roots(self: &Arc<Self>, session: &str) -> Response {
        let (id, answered) = self.question(session);
        let server = Arc::clone(self);
        let question = json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"});
        let asked =
            stream::once(async move { Ok::<_, Infallible>(format!("data: {question}\n\n")) });
        let told = stream::once(async move {
            if let Ok(told) = answered.await {
                server.lock().roots.push(told);
            }
            std::future::pending().await
        });
        let headers = [("content-type", "text/event-stream")];
        let body = Body::from_stream(asked.chain(told));
        (headers, body).into_response()
    }

    /// Opens a stream with the event that comes before all messages.
    fn open(&self) -> usize {
        let mut tables = self.lock();
        tables.streams.push(Vec::new());
        let stream = tables.streams.len() - 1;
        drop(tables);
        if self.events != Events::None {
            self.push(stream, &Value::Null);
        }
        stream
    }

    fn push(&self, stream: usize, message: &Value) {
        let mut tables = self.lock();
        let number = tables.streams[stream].len();
        let id = match self.events {
            Events::None => String::new(),
            Events::Live | Events::Stored => format!("id: {stream}_{number}\n"),
        };
        let data = match message {
            Value::Null => String::new(),
            message => message.to_string(),
        };
        tables.streams[stream].push(format!("{id}data: {data}\n\n"));
        drop(tables);
        self.changes.send_modify(|count| *count += 1);
    }

    async fn resume(self: &Arc<Self>, event: &str) -> Response {
        self.resumed.fetch_add(1, Ordering::SeqCst);
        let (stream, number) = event.split_once('_').unwrap();
        let (stream, number): (usize, usize) = (stream.parse().unwrap(), number.parse().unwrap());
        let is_known = self.lock().streams.get(stream).is_some();
        if !is_known {
            // As the SDKs do: not even a header.
            std::future::pending::<()>().await;
        }
        self.events(stream, number + 1, self.events == Events::Live)
    }

    fn events(self: &Arc<Self>, stream: usize, first: usize, is_live: bool) -> Response {
        let (server, changes) = (Arc::clone(self), self.changes.subscribe());
        let events = stream::unfold((first, changes), move |(next, mut changes)| {
            let server = Arc::clone(&server);
            async move {
                loop {
                    let stored = server.lock().streams[stream].get(next).cloned();
                    if let Some(event) = stored {
                        return Some((Ok::<_, Infallible>(event), (next + 1, changes)));
                    }
                    match is_live {
                        true => changes.changed().await.unwrap(),
                        false => std::future::pending().await,
                    }
                }
            }
        });
        let headers = [("content-type", "text/event-stream")];
        (headers, Body::from_stream(events)).into_response()
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap()
    }
}
