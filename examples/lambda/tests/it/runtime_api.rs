//! The Runtime API of one sandbox: the three routes that a function needs.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc, oneshot};
use tokio::task::JoinSet;

/// Hands events to a function, and takes its responses.
pub(crate) struct RuntimeApi {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    events: mpsc::UnboundedSender<(String, Value)>,
    next: AsyncMutex<mpsc::UnboundedReceiver<(String, Value)>>,
    invocations: Mutex<HashMap<String, oneshot::Sender<Result<Value, Value>>>>,
    count: AtomicUsize,
    /// Notified when the function asks for its next event.
    asked: Notify,
}

impl RuntimeApi {
    pub(crate) async fn start() -> Self {
        let (events, next) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            events,
            next: AsyncMutex::new(next),
            invocations: Mutex::default(),
            count: AtomicUsize::new(0),
            asked: Notify::new(),
        });
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_event))
            .route(
                "/2018-06-01/runtime/invocation/{id}/response",
                post(response),
            )
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self {
            address,
            shared,
            _serving: serving,
        }
    }

    /// Waits until the function has started and asks for its first event.
    pub(crate) async fn asked(&self) {
        self.shared.asked.notified().await;
    }

    /// Invokes the function; an `Err` is what it reported as its error.
    pub(crate) async fn invoke(&self, event: Value) -> Result<Value, Value> {
        let id = format!(
            "invocation-{}",
            self.shared.count.fetch_add(1, Ordering::SeqCst)
        );
        let (done, response) = oneshot::channel();
        self.shared
            .invocations
            .lock()
            .unwrap()
            .insert(id.clone(), done);
        self.shared.events.send((id, event)).unwrap();
        let response = tokio::time::timeout(Duration::from_secs(30), response).await;
        response.expect("a response in time").unwrap()
    }
}

async fn next_event(State(shared): State<Arc<Shared>>) -> Response {
    shared.asked.notify_one();
    let (id, event) = shared.next.lock().await.recv().await.unwrap();
    let deadline = SystemTime::now() + Duration::from_secs(30);
    let deadline = deadline.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let headers = [
        ("Lambda-Runtime-Aws-Request-Id", id),
        (
            "Lambda-Runtime-Deadline-Ms",
            deadline.as_millis().to_string(),
        ),
        (
            "Lambda-Runtime-Invoked-Function-Arn",
            "arn:aws:lambda:eu-north-1:1:function:mcp".to_owned(),
        ),
        (
            "Lambda-Runtime-Trace-Id",
            "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700".to_owned(),
        ),
    ];
    (headers, event.to_string()).into_response()
}

async fn response(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Bytes,
) -> StatusCode {
    end(&shared, &id, Ok(serde_json::from_slice(&body).unwrap()))
}

async fn error(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Bytes,
) -> StatusCode {
    end(&shared, &id, Err(serde_json::from_slice(&body).unwrap()))
}

fn end(shared: &Shared, id: &str, result: Result<Value, Value>) -> StatusCode {
    let invocation = shared.invocations.lock().unwrap().remove(id);
    // The test may have given the invocation up.
    let _ = invocation.unwrap().send(result);
    StatusCode::ACCEPTED
}
