//! An HTTP API whose routes ask, for the command to call.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, LOCATION};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_axum::{Config, Cx, PausingRoute, Problem, Resume, pausing};
use sterna_seal::{Key, Keyring, Principal, SharedKeyring};
use sterna_store::{MemoryStore, Store};

use crate::server::secret;

/// An API on a port of its own; it ends with the test.
pub(crate) struct Api {
    /// Its address, without a path.
    pub(crate) url: String,
    /// Heads of the requests that came, one line for each header field.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Api {
    /// Starts an instance with a store of its own.
    pub(crate) fn start() -> Self {
        Self::with(Arc::new(MemoryStore::new()))
    }

    /// Starts an instance; those with one store go on with each other's
    /// requests.
    pub(crate) fn with(store: Arc<dyn Store>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&heads);
        let routes = routes(store).layer(from_fn(move |request: Request, next: Next| {
            seen.lock().unwrap().push(head(&request));
            next.run(request)
        }));
        thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, routes).await.unwrap();
            });
        });
        Self { url, heads }
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn head(request: &Request) -> String {
    let mut head = format!("{} {}\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        head.push_str(&format!("{name}: {}\n", value.to_str().unwrap()));
    }
    head
}

fn routes(store: Arc<dyn Store>) -> Router {
    let keys = Keyring::new([Key::new(secret())]).unwrap();
    let mut config = Config::default();
    config.patience = Duration::from_millis(50);
    let resume = Resume::new(Arc::new(SharedKeyring::new(keys)), "https://shop.example")
        .store(store)
        .config(config)
        .caller(|parts| {
            let given = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
            Some(Principal::named("shop", given.strip_prefix("Bearer ")?))
        });
    let built = |route: sterna_axum::Pausing<()>| -> PausingRoute<()> {
        route.anonymous().build(&resume).unwrap()
    };
    let own = pausing(delete).confirms("sure").build(&resume).unwrap();
    let pay = pausing(pay).asks_secret::<Otp>("otp");
    Router::new()
        .route("/pay", post(pay.build(&resume).unwrap()))
        .route(
            "/checkout",
            post(built(pausing(checkout).asks_secret::<Otp>("otp"))),
        )
        .route("/count", any(built(pausing(count).asks::<u8>("count"))))
        .route(
            "/merge",
            post(built(pausing(merge).asks_json::<Vec<Row>>("rows"))),
        )
        .route("/endless", post(built(pausing(endless).confirms("again"))))
        .route("/slow", post(built(pausing(slow))))
        .route("/projects", any(own))
        .route("/plain", get(async || "plain \u{1b}]0;title\u{7}text"))
        .route("/binary", get(async || vec![0xff_u8, 0, 1]))
        .route("/large", get(async || vec![b'a'; 17 << 20]))
        .route("/hostile", post(hostile))
        .route("/broken", post(broken))
        .route("/away", any(async || away("http://localhost:1/stolen")))
        .route("/moved", post(async || away("/checkout")))
        .route("/seen", post(seen_other))
}

#[derive(Deserialize)]
struct Wish {
    order: String,
}

#[derive(Deserialize, JsonSchema)]
struct Otp {
    /// The six digits that we sent
    code: String,
}

async fn checkout(cx: Cx<'_>, Json(wish): Json<Wish>) -> Result<Json<Value>, Problem> {
    if wish.order == "big" {
        loop {
            let Otp { code } = cx.ask("otp", "Which code did we send?").await?;
            if cx.once("check", async |_| code == "246810").await? {
                break;
            }
        }
    }
    Ok(Json(json!({"order": wish.order})))
}

/// What the example `checkout` does, which the guide calls.
async fn pay(cx: Cx<'_>, Json(wish): Json<Wish>) -> Result<Json<Value>, Problem> {
    let words = "Enter the code that we sent you to pay 900 for big";
    let Otp { code } = cx.ask("otp", words).await?;
    let by = cx.caller().subject();
    Ok(Json(
        json!({"order": wish.order, "paid": 900, "by": by.filter(|_| code == "246810")}),
    ))
}

async fn count(cx: Cx<'_>) -> Result<Json<u8>, Problem> {
    Ok(Json(cx.ask("count", "How many?").await?))
}

#[derive(Deserialize, serde::Serialize, JsonSchema)]
struct Row {
    line: u32,
    text: String,
}

async fn merge(cx: Cx<'_>) -> Result<Json<usize>, Problem> {
    let doubtful = [Row {
        line: 7,
        text: "terns?".to_owned(),
    }];
    let rows: Vec<Row> = cx
        .ask_json("rows", "Which text is right?")
        .showing(&doubtful)
        .await?;
    Ok(Json(rows.iter().map(|row| row.text.len()).sum()))
}

async fn endless(cx: Cx<'_>) -> Result<(), Problem> {
    loop {
        let _ = cx.confirm("again", "Again?").await?;
    }
}

async fn slow(cx: Cx<'_>) -> Result<&'static str, Problem> {
    cx.effect("wait", async |_| {
        tokio::time::sleep(Duration::from_secs(1)).await;
    })
    .await;
    Ok("done at last")
}

async fn delete(cx: Cx<'_>) -> Result<Json<Value>, Problem> {
    let sure = cx.confirm("sure", "Delete it for good?").await?;
    Ok(Json(json!({"deleted": sure, "by": cx.caller().subject()})))
}

/// Questions whose texts steer a terminal.
async fn hostile() -> Response {
    let evil = "a\u{1b}]0;stolen\u{7}\u{202e}b";
    Problem::new(StatusCode::PRECONDITION_REQUIRED, "Input required")
        .kind("https://sterna.dev/problems/input-required")
        .with(
            "questions",
            json!({
                evil: {"message": evil, "schema": {"type": "array", "title": evil}, "data": evil},
            }),
        )
        .with("resume", "s1.state")
        .into_response()
}

async fn broken() -> Response {
    Problem::new(StatusCode::PRECONDITION_REQUIRED, "Input required")
        .kind("https://sterna.dev/problems/input-required")
        .with("questions", json!({"a": 7}))
        .with("resume", "s1.state")
        .into_response()
}

fn away(to: &'static str) -> Response {
    (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, to)]).into_response()
}

async fn seen_other() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/plain")]).into_response()
}
