//! A bulk import with review and progress: 10,000 rows, of which a person corrects
//! the doubtful ones. It goes on as an operation after the review, on any
//! instance, and loads each row once, also if an instance dies in the middle.
//!
//! ```text
//! $ cargo run --bin import -- --key-file keys.toml --store crm.db
//! listening on http://127.0.0.1:8090
//! ```
//!
//! ```text
//! $ curl -d '{"list": "customers"}' -H 'Authorization: Bearer ada' -H 'Content-Type: application/json' http://127.0.0.1:8090/imports
//! ```
//!
//! `docs/http.md` walks through it. `GET /report` counts how often each row was
//! loaded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use clap::Parser as _;
use examples::application::{Application, Notebook};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sterna_axum::{
    Cx, IdempotencyKey, Operations, Problem, Progress, StepErrorKind, TaskConfig, pausing,
};

/// An import of a list that was uploaded before: a name, not the rows.
#[derive(Deserialize)]
struct Import {
    list: String,
}

#[derive(Serialize)]
struct Row {
    line: usize,
    mail: String,
}

impl Row {
    fn is_doubtful(&self) -> bool {
        !self.mail.contains('@')
    }
}

/// The correct address of each doubtful row, by its line. A row that is left out
/// is loaded as it is.
#[derive(Deserialize, JsonSchema)]
struct Review {
    mails: BTreeMap<usize, String>,
}

async fn import(
    cx: Cx<'_>,
    State(crm): State<Crm>,
    Json(import): Json<Import>,
) -> Result<Json<Value>, Problem> {
    let mut rows = crm.rows(&import.list)?;
    let doubtful: Vec<&Row> = rows.iter().filter(|row| row.is_doubtful()).collect();
    let mut corrected = 0;
    if !doubtful.is_empty() {
        let question = format!(
            "{} of {} rows have a doubtful address: which one is right?",
            doubtful.len(),
            rows.len()
        );
        let review: Review = cx.ask_json("review", question).showing(&doubtful).await?;
        for (line, mail) in review.mails {
            if let Some(row) = rows.get_mut(line) {
                row.mail = mail;
                corrected += 1;
            }
        }
    }
    // From here on the client looks at an operation, and every chunk is committed.
    cx.become_task().await;
    let total = rows.len();
    for chunk in rows.chunks(CHUNK) {
        load(&cx, &crm, &import.list, chunk).await?;
        let done = chunk.last().map_or(total, |row| row.line + 1);
        let progress = Progress::new(amount(done)).of(amount(total));
        cx.progress(progress.saying(format!("{done} rows of {} are loaded", import.list)));
        // An instance that shuts down hands over here, not in the middle of a chunk.
        cx.checkpoint("loaded").await;
    }
    Ok(Json(
        json!({ "list": import.list, "loaded": total, "corrected": corrected }),
    ))
}

/// Loads a chunk once. If an instance died while it did that, the CRM knows whether
/// the chunk has arrived.
///
/// An instance that only stood still could load its chunk after the CRM was asked. A
/// CRM that refuses a key it has seen closes that gap too; this one counts instead.
async fn load(cx: &Cx<'_>, crm: &Crm, list: &str, chunk: &[Row]) -> Result<(), Problem> {
    loop {
        let loading = cx.try_once("load", async |key| crm.load(list, chunk, key).await);
        match loading.await {
            Err(error) if error.kind == StepErrorKind::Ambiguous => {}
            loaded => return Ok(loaded?),
        }
        let looking = cx.try_step("look", async || crm.has(list, chunk).await);
        if looking.await? {
            return Ok(());
        }
    }
}

fn amount(rows: usize) -> f64 {
    f64::from(u32::try_from(rows).unwrap_or(u32::MAX))
}

/// The system that rows are loaded into. It notes each chunk as a whole, and takes
/// a chunk as often as it gets it.
#[derive(Clone)]
struct Crm(Notebook);

impl Crm {
    /// Rows of an uploaded list: 10,000, of which thirty are doubtful.
    fn rows(&self, list: &str) -> Result<Vec<Row>, Problem> {
        if list != LIST {
            return Err(Problem::new(StatusCode::NOT_FOUND, "No such list"));
        }
        let mail = |line: usize| match line % 333 {
            332 => format!("customer{line}(at)example.org"),
            _ => format!("customer{line}@example.org"),
        };
        let rows = (0..ROWS).map(|line| Row {
            line,
            mail: mail(line),
        });
        Ok(rows.collect())
    }

    async fn load(&self, list: &str, chunk: &[Row], key: IdempotencyKey) -> Result<(), String> {
        static LOADS: AtomicU32 = AtomicU32::new(0);
        // A real one is not faster.
        tokio::time::sleep(Duration::from_millis(40)).await;
        let (first, length) = (chunk.first().map_or(0, |row| row.line), chunk.len());
        // Every load is another note, so that one that happened twice would be seen.
        let number = LOADS.fetch_add(1, Ordering::Relaxed);
        let note = format!("{first} {length} {key} {} {number}", std::process::id());
        let noted = self.0.add(&loads_of(list), &note).await;
        noted.map_err(|error| error.to_string())
    }

    async fn has(&self, list: &str, chunk: &[Row]) -> Result<bool, String> {
        let first = chunk.first().map_or(0, |row| row.line);
        let loads = self.loads(list).await.map_err(|error| error.to_string())?;
        Ok(loads.iter().any(|(loaded, _)| *loaded == first))
    }

    /// Returns the first line and the length of each chunk that was loaded.
    async fn loads(&self, list: &str) -> anyhow::Result<Vec<(usize, usize)>> {
        let notes = self.0.all(&loads_of(list)).await?;
        let read = |note: &String| {
            let mut words = note.split(' ');
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        };
        Ok(notes.iter().filter_map(read).collect())
    }
}

fn loads_of(list: &str) -> String {
    format!("loads of {list}")
}

/// Counts the rows by how often they were loaded, over all instances.
async fn report(State(crm): State<Crm>) -> Result<Json<Value>, Problem> {
    let mut counts = vec![0; ROWS];
    let loads = crm.loads(LIST).await;
    let loads = loads.map_err(|error| std::io::Error::other(error.to_string()))?;
    for (first, length) in loads {
        for count in counts.iter_mut().skip(first).take(length) {
            *count += 1;
        }
    }
    let rows = |is_so: fn(u32) -> bool| counts.iter().filter(|count| is_so(**count)).count();
    Ok(Json(json!({
        "never": rows(|count| count == 0),
        "once": rows(|count| count == 1),
        "more": rows(|count| count > 1),
    })))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let application = Application::parse();
    let mut config = TaskConfig::default();
    // If an instance dies, another one goes on after this time.
    config.lease = Duration::from_secs(3);
    let operations = Operations::at("/operations")?.config(config);
    let resume = application.resume("https://crm.example").await?;
    let store = resume.store_in_use().cloned();
    let crm = Crm(Notebook::new(
        store.ok_or_else(|| anyhow::anyhow!("no store"))?,
    ));
    let resume = resume.state(crm.clone()).operations(&operations);
    let import = pausing(import)
        .asks_json::<Review>("review")
        .operation("import")
        .build(&resume)?;
    let app = Router::new()
        .route("/imports", post(import))
        .route("/report", get(report))
        .with_state(crm)
        .merge(operations.router());
    application.serve_and_work(app, &operations).await
}

const LIST: &str = "customers";
const ROWS: usize = 10_000;
/// Few enough chunks for one journal, which has at most 256 entries.
const CHUNK: usize = 200;
