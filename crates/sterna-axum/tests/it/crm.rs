//! An application whose imports are long work, on several instances.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::extract::{Extension, Path, Query, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sterna_axum::{
    Config, Cx, Operations, Pausing, Problem, Progress, Resume, TaskConfig, pausing,
};
use sterna_seal::{Keyring, Principal, SharedKeyring, ThreadEntropy};
use sterna_store::{MemoryStore, Store};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use crate::shop::{Answer, Call, Otp, post_to};

/// Effects of the handlers, over all instances.
#[derive(Clone)]
pub(crate) struct Crm {
    pub(crate) loads: Arc<AtomicU32>,
    pub(crate) undone: Arc<AtomicU32>,
    pub(crate) guesses: Arc<AtomicU32>,
    /// Each load takes one of these.
    pub(crate) gate: Arc<Semaphore>,
}

#[derive(Deserialize)]
struct Wish {
    chunks: u32,
    #[serde(default)]
    review: bool,
    #[serde(default)]
    promote: bool,
    #[serde(default)]
    fail: bool,
}

/// A corrected row.
#[derive(Deserialize, JsonSchema, Serialize)]
pub(crate) struct Row {
    line: u32,
    mail: String,
}

#[derive(Deserialize)]
struct Options {
    dry: Option<bool>,
}

async fn import(
    cx: Cx<'_>,
    State(crm): State<Crm>,
    Path(list): Path<String>,
    Query(options): Query<Options>,
    Json(wish): Json<Wish>,
) -> Result<Json<Value>, Problem> {
    let mut fixes: Vec<Row> = Vec::new();
    if wish.review {
        let review = cx
            .ask_json("review", "Which mail has row 7?")
            .showing("row 7");
        fixes = review.await?;
    }
    let undone = Arc::clone(&crm.undone);
    cx.undo("unload", async move |_| {
        undone.fetch_add(1, Ordering::Relaxed);
    });
    if wish.promote {
        cx.become_task().await;
    }
    for chunk in 0..wish.chunks {
        cx.once("load", async |_| {
            let permit = crm.gate.acquire().await.expect("the gate is never closed");
            permit.forget();
            crm.loads.fetch_add(1, Ordering::Relaxed);
        })
        .await?;
        let progress = Progress::new(f64::from(chunk + 1)).of(f64::from(wish.chunks));
        cx.progress(progress.saying(format!("Chunk {chunk}")));
        cx.checkpoint("chunk").await;
    }
    if wish.fail {
        return Err(Problem::new(StatusCode::CONFLICT, "It is full"));
    }
    Ok(Json(json!({
        "list": list,
        "dry": options.dry,
        "loaded": wish.chunks,
        "fixes": fixes,
        "by": cx.caller().subject(),
    })))
}

/// A user as a middleware finds it.
#[derive(Clone)]
pub(crate) struct User(pub(crate) String);

async fn whoami(_cx: Cx<'_>, Extension(User(user)): Extension<User>) -> String {
    user
}

async fn sign(cx: Cx<'_>, State(crm): State<Crm>) -> Result<&'static str, Problem> {
    loop {
        let Otp { code } = cx.ask("otp", "Code?").await?;
        let checked = cx.once("check", async |_| {
            crm.guesses.fetch_add(1, Ordering::Relaxed);
            code == "246810"
        });
        if checked.await? {
            return Ok("signed");
        }
    }
}

/// Instances of the application.
pub(crate) struct Crms {
    keys: Arc<SharedKeyring>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) crm: Crm,
    pub(crate) tasks: TaskConfig,
}

/// One instance, whose workers end with it.
pub(crate) struct Instance {
    pub(crate) app: Router,
    pub(crate) resume: Resume<Crm>,
    pub(crate) operations: Operations,
}

/// Workers of an instance. They are dropped with it, as those of a process that
/// is killed.
pub(crate) struct Workers {
    shutdown: Option<oneshot::Sender<()>>,
    working: JoinSet<()>,
}

impl Crms {
    /// `loads` of the handlers may go on.
    pub(crate) fn new(loads: usize) -> Self {
        let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
        let mut tasks = TaskConfig::default();
        tasks.lease = Duration::from_secs(2);
        tasks.drain = Duration::from_millis(200);
        Self {
            keys: Arc::new(SharedKeyring::new(ring)),
            store: Arc::new(MemoryStore::new()),
            crm: Crm {
                loads: Arc::default(),
                undone: Arc::default(),
                guesses: Arc::default(),
                gate: Arc::new(Semaphore::new(loads)),
            },
            tasks,
        }
    }

    pub(crate) fn resume(&self, operations: &Operations) -> Resume<Crm> {
        let mut config = Config::default();
        config.patience = Duration::from_secs(5);
        Resume::new(Arc::clone(&self.keys), "https://crm.example")
            .state(self.crm.clone())
            .store(Arc::clone(&self.store))
            .config(config)
            .caller(|parts| {
                let user = parts.headers.get("x-user")?.to_str().ok()?;
                Some(Principal::named("crm", user))
            })
            .operations(operations)
    }

    pub(crate) fn operations(&self) -> Operations {
        let operations = Operations::at("/v1/operations").unwrap();
        operations.config(self.tasks.clone())
    }

    pub(crate) fn instance(&self) -> Instance {
        let restored = |parts: &mut http::request::Parts, caller: &Principal| {
            let user = caller.subject().unwrap_or_default().to_owned();
            parts.extensions.insert(User(user));
        };
        let operations = self.operations().restore(restored);
        let resume = self.resume(&operations);
        let build = |route: Pausing<Crm>| route.build(&resume).unwrap();
        let imports = build(
            pausing(import)
                .asks_json::<Vec<Row>>("review")
                .operation("import"),
        );
        let always = pausing(import).asks_json::<Vec<Row>>("review");
        let always = build(always.always_operation("always"));
        let plain = build(pausing(import).asks_json::<Vec<Row>>("review"));
        let sign = build(pausing(sign).asks_secret::<Otp>("otp").operation("sign"));
        let whoami = build(pausing(whoami).operation("whoami"));
        let nested = Router::new()
            .route("/imports/{list}", post(imports))
            .route("/always/{list}", post(always))
            .route("/plain/{list}", post(plain))
            .route("/sign", post(sign))
            .route(
                "/whoami",
                get(whoami).layer(Extension(User("first".to_owned()))),
            );
        let app = Router::new().nest("/v1", nested).merge(operations.router());
        Instance {
            app,
            resume,
            operations,
        }
    }
}

impl Instance {
    pub(crate) fn work(&self) -> Workers {
        let operations = self.operations.clone();
        let (shutdown, asked) = oneshot::channel::<()>();
        let mut working = JoinSet::new();
        working.spawn(async move {
            operations.work(async { drop(asked.await) }).await;
        });
        Workers {
            shutdown: Some(shutdown),
            working,
        }
    }

    /// Looks at an operation until `is_so`.
    #[track_caller]
    pub(crate) fn until(
        &self,
        location: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> impl Future<Output = Answer> {
        let look = look_at(location);
        async move {
            let looking = async {
                loop {
                    let shown = look.send(&self.app).await.expect(200);
                    if is_so(&shown.json) {
                        return shown;
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            let seen = tokio::time::timeout(Duration::from_secs(20), looking).await;
            seen.expect("an operation that gets there in time")
        }
    }

    pub(crate) async fn ended(&self, location: &str) -> Answer {
        self.until(location, |shown| {
            !matches!(shown["status"].as_str(), Some("working" | "input_required"))
        })
        .await
    }
}

impl Workers {
    /// Tells them to stop, and lets them hear it.
    pub(crate) async fn begin_stop(&mut self) {
        drop(self.shutdown.take());
        settle().await;
    }

    /// Waits until they have stopped.
    pub(crate) async fn stopped(mut self) {
        let stopped = self.working.join_next();
        let stopped = tokio::time::timeout(Duration::from_secs(10), stopped);
        let stopped = stopped.await.expect("workers end in time");
        stopped.expect("workers").unwrap();
    }
}

/// Lets the other tasks of a test on one thread react to what was done.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn import_of(wish: &Value) -> Call {
    post_to("/v1/imports/mails?dry=true", wish)
}

pub(crate) fn prefer(call: Call, preference: &str) -> Call {
    call.with("prefer", preference)
}

pub(crate) fn look_at(location: &str) -> Call {
    Call::new("GET", location, &[("x-user", "ada")], "")
}

pub(crate) fn cancel(location: &str) -> Call {
    Call::new("DELETE", location, &[("x-user", "ada")], "")
}

pub(crate) fn answer(location: &str, answers: &Value) -> Call {
    post_to(
        &format!("{location}/answers"),
        &json!({ "answers": answers }),
    )
}

pub(crate) fn location(accepted: &Answer) -> String {
    accepted.headers["location"].to_str().unwrap().to_owned()
}
