//! A deletion that needs a confirmation: a request without a body, resumed by
//! one that has nothing but the answer.
//!
//! ```text
//! $ cargo run --bin deletion -- --key-file keys.toml --store memory
//! listening on http://127.0.0.1:8090
//! ```
//!
//! ```text
//! $ curl -X DELETE -H 'Authorization: Bearer ada' http://127.0.0.1:8090/projects/apollo
//! ```

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::delete;
use axum::{Json, Router};
use clap::Parser as _;
use examples::application::{Application, Notebook};
use serde_json::{Value, json};
use sterna_axum::{Cx, Problem, pausing};

async fn remove(
    cx: Cx<'_>,
    State(notes): State<Notebook>,
    Path(project): Path<String>,
) -> Result<Json<Value>, Problem> {
    // Counted afresh in every round. If someone adds a file while the question is open, the
    // question changes, and a yes to the old one does not count.
    let files = count(&notes, &project).await?;
    let question = format!("Delete {project} with {files} files?");
    if !cx.confirm("sure", question).await? {
        return Err(Problem::new(StatusCode::CONFLICT, "Not deleted"));
    }
    let deleted = format!("deleted {project}");
    let delete = cx.try_once("delete", async |key| {
        let noted = notes.add(&deleted, &key.to_string()).await;
        noted.map_err(|error| error.to_string())
    });
    delete.await?;
    Ok(Json(json!({ "deleted": project, "files": files })))
}

async fn count(notes: &Notebook, project: &str) -> Result<u64, Problem> {
    let files = notes.count(&format!("file {project}")).await;
    files.map_err(|error| std::io::Error::other(error.to_string()).into())
}

/// Adds a file to a project.
async fn add(
    State(notes): State<Notebook>,
    Path((project, file)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let added = notes.add(&format!("file {project}"), &file).await;
    added.map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(StatusCode::CREATED)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let application = Application::parse();
    let resume = application.resume("https://projects.example").await?;
    let store = resume.store_in_use().cloned();
    let notes = Notebook::new(store.ok_or_else(|| anyhow::anyhow!("no store"))?);
    let resume = resume.state(notes.clone());
    let remove = pausing(remove).confirms("sure").build(&resume)?;
    let app = Router::new()
        .route("/projects/{project}", delete(remove))
        .route("/projects/{project}/{file}", axum::routing::put(add))
        .with_state(notes);
    application.serve(app).await
}
