//! An API with long work, written by hand: it takes each step when the test
//! wants it to.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use axum::extract::{Request, State};
use axum::http::header::{ETAG, IF_NONE_MATCH, LOCATION, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

/// One operation, and the requests that concerned it.
#[derive(Clone)]
pub(crate) struct Work(Arc<Mutex<WorkState>>);

struct WorkState {
    /// The steps that are left; the first is shown.
    steps: Vec<Value>,
    /// Number of the step that is shown.
    revision: u64,
    seen: Vec<String>,
    location: String,
}

impl Work {
    /// Starts an API whose operation takes `steps`: a step after each look at it,
    /// and after each answer where it waits for one.
    pub(crate) fn start(steps: &[Value]) -> (String, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/import", listener.local_addr().unwrap());
        let work = Self(Arc::new(Mutex::new(WorkState {
            steps: steps.to_vec(),
            revision: 0,
            seen: Vec::new(),
            location: "/operations/7".to_owned(),
        })));
        let routes = Router::new()
            .route("/import", post(begin))
            .route("/operations/7", get(look).delete(cancel))
            .route("/operations/7/answers", post(answer))
            .with_state(work.clone());
        thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, routes).await.unwrap();
            });
        });
        (url, work)
    }

    /// Has the API name another address for its operation.
    pub(crate) fn at(&self, location: &str) {
        self.0.lock().unwrap().location = location.to_owned();
    }

    /// The requests so far, in words.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.0.lock().unwrap().seen.clone()
    }

    fn note(&self, what: String) {
        self.0.lock().unwrap().seen.push(what);
    }

    fn shown(&self) -> Response {
        let mut state = self.0.lock().unwrap();
        let step = state.steps.first().cloned().unwrap_or_default();
        let tag = format!("\"{}\"", state.revision);
        if step["status"] == "working" && state.steps.len() > 1 {
            state.steps.remove(0);
            state.revision += 1;
        }
        drop(state);
        let mut response = Json(step).into_response();
        let headers = response.headers_mut();
        headers.insert(ETAG, HeaderValue::try_from(tag).unwrap());
        headers.insert(RETRY_AFTER, HeaderValue::from_static("0"));
        response
    }
}

async fn begin(State(work): State<Work>, request: Request) -> Response {
    let prefer = request.headers().get("prefer");
    work.note(format!(
        "begin {}",
        prefer.map_or("", |it| it.to_str().unwrap())
    ));
    let location = work.0.lock().unwrap().location.clone();
    let mut response = work.shown();
    *response.status_mut() = StatusCode::ACCEPTED;
    let location = HeaderValue::try_from(location).unwrap();
    response.headers_mut().insert(LOCATION, location);
    response
}

async fn look(State(work): State<Work>, request: Request) -> Response {
    let tag = request.headers().get(IF_NONE_MATCH);
    let tag = tag.map(|tag| tag.to_str().unwrap().to_owned());
    let token = request.headers().contains_key("authorization");
    work.note(format!("look {} {token}", tag.as_deref().unwrap_or("-")));
    let revision = work.0.lock().unwrap().revision;
    match tag == Some(format!("\"{revision}\"")) {
        true => (StatusCode::NOT_MODIFIED, [(RETRY_AFTER, "0")]).into_response(),
        false => work.shown(),
    }
}

async fn answer(State(work): State<Work>, Json(body): Json<Value>) -> Response {
    work.note(format!("answer {body}"));
    if body["answers"]["review"] == "odd" {
        let problem = json!({
            "type": "https://sterna.dev/problems/invalid-answer",
            "errors": {"review": "it is \u{1b}]odd"},
        });
        return (StatusCode::UNPROCESSABLE_ENTITY, Json(problem)).into_response();
    }
    {
        let mut state = work.0.lock().unwrap();
        state.steps.remove(0);
        state.revision += 1;
    }
    work.shown()
}

async fn cancel(State(work): State<Work>) -> Response {
    work.note("cancel".to_owned());
    work.0.lock().unwrap().steps = vec![json!({"status": "cancelled"})];
    work.shown()
}
