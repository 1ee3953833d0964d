//! An application of several instances, and a client without a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::routing::{delete, post};
use axum::{Json, Router};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sterna_axum::{Clock, Config, Cx, Problem, Resume, pausing};
use sterna_seal::{Keyring, Principal, SharedKeyring, ThreadEntropy};
use sterna_store::{MemoryStore, Store};
use tokio::sync::Notify;
use tower_service::Service as _;

#[derive(Clone, Default)]
pub(crate) struct Shop {
    pub(crate) codes_sent: Arc<AtomicU32>,
    pub(crate) codes_checked: Arc<AtomicU32>,
    pub(crate) charges: Arc<AtomicU32>,
    /// Number of times that the handler has read the price.
    pub(crate) price_read: Arc<AtomicU32>,
    /// A slow checkout waits for this.
    pub(crate) slow: Arc<Notify>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    order: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Otp {
    /// The six digits that we sent
    pub(crate) code: String,
}

pub(crate) async fn checkout(
    cx: Cx<'_>,
    State(shop): State<Shop>,
    Json(wish): Json<Wish>,
) -> Result<Json<Value>, Problem> {
    shop.price_read.fetch_add(1, Ordering::Relaxed);
    if wish.order == "slow" {
        shop.slow.notified().await;
    }
    if wish.order != "small" {
        cx.effect("send", async |_| {
            shop.codes_sent.fetch_add(1, Ordering::Relaxed);
        })
        .await;
        loop {
            let Otp { code } = cx.ask("otp", "Which code did we send?").await?;
            let checked = cx.once("check", async |_| {
                shop.codes_checked.fetch_add(1, Ordering::Relaxed);
                code == "246810"
            });
            if checked.await? {
                break;
            }
        }
    }
    cx.once("charge", async |_| {
        shop.charges.fetch_add(1, Ordering::Relaxed);
    })
    .await?;
    Ok(Json(
        json!({ "order": wish.order, "by": cx.caller().subject() }),
    ))
}

#[derive(Deserialize)]
struct Options {
    dry: Option<bool>,
}

async fn remove(
    cx: Cx<'_>,
    Path(project): Path<String>,
    Query(options): Query<Options>,
) -> Result<Json<Value>, Problem> {
    let sure = cx.confirm("sure", format!("Delete {project}?")).await?;
    Ok(Json(
        json!({ "deleted": sure && options.dry != Some(true), "project": project }),
    ))
}

/// Instances of one application, with their clock.
pub(crate) struct Fleet {
    keys: Arc<SharedKeyring>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) shop: Shop,
    /// Seconds by which the clock is ahead.
    ahead: Arc<AtomicI64>,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
        Self {
            keys: Arc::new(SharedKeyring::new(ring)),
            store: Arc::new(MemoryStore::new()),
            shop: Shop::default(),
            ahead: Arc::default(),
        }
    }

    pub(crate) fn wait(&self, duration: Duration) {
        let seconds = i64::try_from(duration.as_secs()).unwrap();
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(crate) fn resume(&self) -> Resume<Shop> {
        self.resume_with(Arc::clone(&self.keys))
    }

    /// Settings with other keys than those of the fleet.
    pub(crate) fn resume_with(&self, keys: Arc<SharedKeyring>) -> Resume<Shop> {
        let mut config = Config::default();
        let ahead = Arc::clone(&self.ahead);
        config.clock = Clock::new(move || {
            let ahead = u64::try_from(ahead.load(Ordering::Relaxed)).unwrap();
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + ahead)
        });
        config.patience = Duration::from_millis(50);
        Resume::new(keys, "https://shop.example")
            .state(self.shop.clone())
            .store(Arc::clone(&self.store))
            .config(config)
            .caller(|parts| {
                let user = parts.headers.get("x-user")?.to_str().ok()?;
                Some(Principal::named("shop", user))
            })
    }

    /// A new instance.
    pub(crate) fn instance(&self) -> Router {
        let resume = self.resume();
        let checkout = || pausing(checkout).asks_secret::<Otp>("otp");
        let keyed = checkout().requires_idempotency_key();
        Router::new()
            .route("/checkout", post(checkout().build(&resume).unwrap()))
            .route("/keyed", post(keyed.build(&resume).unwrap()))
            .route(
                "/projects/{project}",
                delete(pausing(remove).confirms("sure").build(&resume).unwrap()),
            )
    }
}

/// A request to be sent.
pub(crate) struct Call {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

pub(crate) fn post_to(path: &str, body: &Value) -> Call {
    Call {
        method: "POST",
        path: path.to_owned(),
        headers: vec![("content-type", "application/json".to_owned())],
        body: body.to_string(),
    }
    .by("ada")
}

pub(crate) fn checkout_of(order: &str) -> Call {
    post_to("/checkout", &json!({ "order": order }))
}

/// The same checkout with the state of `paused` and a code.
pub(crate) fn code_for(paused: &Answer, order: &str, code: &str) -> Call {
    let key = paused.json["questions"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .clone();
    let resume = json!({ "token": paused.json["resume"], "answers": { key: { "code": code } } });
    post_to("/checkout", &json!({ "order": order, "resume": resume }))
}

impl Call {
    pub(crate) fn new(
        method: &'static str,
        path: &str,
        headers: &[(&'static str, &str)],
        body: &str,
    ) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        Self {
            method,
            path: path.to_owned(),
            headers: headers.collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn by(self, user: &str) -> Self {
        self.with("x-user", user)
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn at(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    pub(crate) async fn send(&self, app: &Router) -> Answer {
        let mut request = Request::builder().method(self.method).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Body::from(self.body.clone())).unwrap();
        let response = app.clone().call(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            json: serde_json::from_slice(&bytes).unwrap_or_default(),
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) json: Value,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }

    pub(crate) fn token(&self) -> &str {
        self.json["resume"].as_str().unwrap()
    }
}
