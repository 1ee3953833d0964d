//! An MCP server in AWS Lambda: a function URL or an HTTP API brings its rounds,
//! and a schedule works on its tasks.
//!
//! `docs/serverless.md` says how it is built and what it needs.

use std::env::var;
use std::sync::Arc;
use std::time::Duration;

use lambda_http::http::StatusCode;
use lambda_http::request::RequestContext;
use lambda_http::{Error, Request, RequestExt, Service, service_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::http::{HttpConfig, reply};
use sterna_server::{AskError, Cx, Server, TaskMode, Tool};
use sterna_store_postgres::{Config, PostgresStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let store = PostgresStore::connect(Config::new(&var("DATABASE_URL")?)?).await?;
    let mut http = HttpConfig::default();
    http.hosts.push(var("MCP_HOST")?);
    let service = Server::new("lambda", env!("CARGO_PKG_VERSION"))
        .tool("interview", "Asks one thing after the other", interview)
        .offer(Tool::new("count", "Counts slowly", count).task(TaskMode::Always))
        .key_file(var("MCP_KEY_FILE")?)
        .configure(|config| config.reload_keys = Duration::from_secs(1))
        .store(Arc::new(store))
        .http(http)
        .anonymous()
        .serverless()
        .log_to_stderr()
        .build()?;
    let mcp = service.clone().into_tower()?;
    let answer = service_fn(move |request: Request| {
        let (service, mut mcp) = (service.clone(), mcp.clone());
        async move {
            // No request from outside is of this kind: the schedule invokes the function itself.
            if let Some(RequestContext::PassThrough) = request.request_context_ref() {
                let tick: Tick = serde_json::from_slice(request.body())?;
                let done = service
                    .work_for(Duration::from_secs(tick.work_seconds))
                    .await;
                let done =
                    serde_json::json!({"finished": done.finished, "handedOver": done.handed_over});
                return Ok::<_, Error>(reply::json(StatusCode::OK, done.to_string()));
            }
            Ok(mcp.call(request).await?)
        }
    });
    lambda_http::run(answer).await
}

/// Input of the schedule, less than the time-out of the function.
#[derive(Deserialize)]
struct Tick {
    work_seconds: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Interview {
    /// How many questions to ask
    questions: u32,
}

async fn interview(cx: Cx<'_>, args: Interview) -> Result<String, AskError> {
    let mut answers = Vec::new();
    for number in 1..=args.questions {
        let key = format!("q{number}");
        let answer: String = cx.ask(&key, format!("Question {number}?")).await?;
        answers.push(answer);
    }
    Ok(answers.join(" "))
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// How many steps to take
    steps: u32,
    /// How long each step takes
    milliseconds: u64,
}

/// Says which process has taken each step.
async fn count(cx: Cx<'_>, args: Count) -> Result<String, AskError> {
    let mut processes = Vec::new();
    for number in 1..=args.steps {
        let pause = Duration::from_millis(args.milliseconds);
        let process = cx.step(&format!("step-{number}"), || async move {
            tokio::time::sleep(pause).await;
            std::process::id()
        });
        processes.push(process.await.to_string());
    }
    Ok(processes.join(" "))
}
