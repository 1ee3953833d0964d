//! Answers that do not come back to the instance that asked.

use std::sync::Arc;
use std::time::Duration;

use postgres_here::Postgres;
use serde_json::{Value, json};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{AskError, Cx, SamplingRequest, Server, Service};
use sterna_store::{BlobId, Blobs, Store};
use sterna_store_postgres::{Hints, PostgresStore};
use sterna_store_sqlite::{Config, SqliteStore};

use super::{Session, next, show};
use crate::mcp::tasks::{Fleet, config};
use crate::mcp::{accept, mounted};

async fn name(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Who are you?").await?;
    Ok(format!("Hello, {name}!"))
}

async fn model(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let written = cx
        .sample("poem", SamplingRequest::new("Write a poem", 10))
        .await?;
    Ok(format!("by {}", written.model))
}

async fn both(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (left, right) = tokio::join!(
        cx.ask::<String>("left", "Left?"),
        cx.ask::<String>("right", "Right?"),
    );
    Ok(format!("{} {}", left?, right?))
}

fn server() -> Server {
    Server::new("asking", "1")
        .tool("name", "", name)
        .tool("model", "", model)
        .tool("both", "", both)
}

fn all() -> Value {
    json!({"elicitation": {"form": {}}, "sampling": {}})
}

/// The same session on the instance that asks and on another.
async fn two(fleet: &Fleet, version: &'static str) -> (Session, Session) {
    let here = Session::at(fleet.built(server()));
    let here = here.open(version, all()).await;
    let there = here.on(&Session::at(fleet.built(server())));
    (here, there)
}

#[tokio::test(start_paused = true)]
async fn an_answer_reaches_the_instance_that_asked_wherever_it_arrives() {
    let fleet = Fleet::new();
    for version in ["2025-11-25", "2025-06-18"] {
        let (here, there) = two(&fleet, version).await;
        let mut stream = here.start("tools/call", json!({"name": "name"})).await;
        let question = next(&mut stream).await;
        there
            .answer(&question, accept(json!({"name": "Ada"})))
            .await;
        assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_brings_answers_elsewhere_too() {
    let fleet = Fleet::new();
    let here = Session::at(fleet.built(server()));
    let here = here.open("2025-03-26", json!({"sampling": {}})).await;
    let there = here.on(&Session::at(fleet.built(server())));
    let mut stream = here.start("tools/call", json!({"name": "model"})).await;
    let question = next(&mut stream).await;
    let written =
        json!({"role": "assistant", "model": "m1", "content": {"type": "text", "text": "a"}});
    let answer = json!([{"jsonrpc": "2.0", "id": question["id"], "result": written}]);
    assert_eq!(there.post(answer).await.status(), 202);
    assert_eq!(show(&next(&mut stream).await), "by m1");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_travels_as_an_answer_does() {
    let fleet = Fleet::new();
    let (here, there) = two(&fleet, "2025-11-25").await;
    let mut stream = here.start("tools/call", json!({"name": "model"})).await;
    let question = next(&mut stream).await;
    let error = json!({"code": -1, "message": "no"});
    let refusal = json!({"jsonrpc": "2.0", "id": question["id"], "error": error});
    assert_eq!(there.post(refusal).await.status(), 202);
    assert_eq!(
        show(&next(&mut stream).await),
        "error: The client refused what it was asked for."
    );
}

#[tokio::test(start_paused = true)]
async fn each_answer_finds_its_question_and_the_first_one_counts() {
    let fleet = Fleet::new();
    let (here, there) = two(&fleet, "2025-11-25").await;
    let mut stream = here.start("tools/call", json!({"name": "both"})).await;
    let (left, right) = (next(&mut stream).await, next(&mut stream).await);
    there.answer(&right, accept(json!({"right": "r"}))).await;
    there.answer(&right, accept(json!({"right": "x"}))).await;
    // One of them may come home.
    here.answer(&left, accept(json!({"left": "l"}))).await;
    assert_eq!(show(&next(&mut stream).await), "l r");
}

#[tokio::test(start_paused = true)]
async fn nobody_else_answers_a_question_wherever_they_are() {
    let tokens = "token-of-ada ada\ntoken-of-bob bob";
    let guarded = || {
        let tokens = StaticTokens::parse(tokens).unwrap();
        server().gate(Gate::guarded(tokens))
    };
    let fleet = Fleet::new();
    let (one, other) = (
        Session::at(fleet.built(guarded())),
        Session::at(fleet.built(guarded())),
    );
    let ada = one.with_token("token-of-ada");
    let ada = ada.open("2025-11-25", all()).await;
    let second = one.with_token("token-of-ada");
    let second = second.open("2025-11-25", all()).await.on(&other);
    let bob = one.with_token("token-of-bob");
    let bob = bob.open("2025-11-25", all()).await.on(&other);
    let mut stream = ada.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    let eve = accept(json!({"name": "Eve"}));
    bob.answer(&question, eve.clone()).await;
    second.answer(&question, eve.clone()).await;
    // One that was never asked, though it looks like it.
    let forged = question["id"].as_str().unwrap().replacen(".1.", ".2.", 1);
    let there = ada.on(&other);
    there.answer(&json!({"id": forged}), eve).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    there
        .answer(&question, accept(json!({"name": "Ada"})))
        .await;
    assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_answered_leaves_room_for_the_next() {
    let fleet = Fleet::new();
    let (here, there) = two(&fleet, "2025-11-25").await;
    // More than a session may have open at once.
    for _ in 0..40 {
        let mut stream = here.start("tools/call", json!({"name": "name"})).await;
        let question = next(&mut stream).await;
        there
            .answer(&question, accept(json!({"name": "Ada"})))
            .await;
        assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_shared_store_an_answer_that_went_astray_is_ignored() {
    let here = Session::at(Fleet::new().built(server()));
    let here = here.open("2025-11-25", all()).await;
    let there = here.on(&Session::at(Fleet::new().built(server())));
    let mut stream = here.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    there
        .answer(&question, accept(json!({"name": "Eve"})))
        .await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    here.answer(&question, accept(json!({"name": "Ada"}))).await;
    assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
}

#[tokio::test]
async fn two_instances_on_one_file_answer_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    // Each has the file open for itself, as two processes would.
    let open = || Arc::new(SqliteStore::open(&path, Config::default()).unwrap());
    let (here, there) = (Session::at(on(open())), Session::at(on(open())));
    let here = here.open("2025-11-25", all()).await;
    let there = here.on(&there);
    let mut stream = here.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    there
        .answer(&question, accept(json!({"name": "Ada"})))
        .await;
    assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
}

#[tokio::test]
async fn two_instances_on_one_postgres_answer_for_each_other() {
    let Some(postgres) = Postgres::start("fsync = off").unwrap() else {
        assert!(std::env::var_os("CI").is_none(), "missing: PostgreSQL");
        eprintln!("skipped: PostgreSQL, install it");
        return;
    };
    // A hint may be lost; looking now and then is enough.
    for hints in [Hints::Off, Hints::Listen] {
        let mut config = sterna_store_postgres::Config::new(&postgres.connection()).unwrap();
        config.hints = hints;
        let connect = async || {
            let store = PostgresStore::connect(config.clone()).await.unwrap();
            Session::at(on(Arc::new(store)))
        };
        let (here, there) = (connect().await, connect().await);
        let here = here.open("2025-11-25", all()).await;
        let there = here.on(&there);
        let mut stream = here.start("tools/call", json!({"name": "name"})).await;
        let question = next(&mut stream).await;
        there
            .answer(&question, accept(json!({"name": "Ada"})))
            .await;
        assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
    }
}

#[tokio::test]
async fn a_store_that_fails_has_the_client_answer_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let mut small = Config::default();
    let open = |config: &Config| Arc::new(SqliteStore::open(&path, config.clone()).unwrap());
    let roomy = open(&small);
    let here = Session::at(on(roomy.clone()));
    let here = here.open("2025-11-25", all()).await;
    let mut stream = here.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    // The file may not grow for the other one, and there is no page free.
    let filler = BlobId::from_bytes([1; 16]);
    let minute = Duration::from_secs(60);
    roomy
        .put_blob(filler, vec![0; 1 << 20].into(), minute)
        .await
        .unwrap();
    small.bytes = Some(1 << 20);
    let there = here.on(&Session::at(on(open(&small))));
    let long = "x".repeat(64 << 10);
    let result = accept(json!({"name": long}));
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    assert_eq!(there.post(answer).await.status(), 503);
    here.answer(&question, accept(json!({"name": "Ada"}))).await;
    assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
}

fn on(store: Arc<dyn Store>) -> Service {
    let server = mounted(server()).config(config()).store(store);
    server.build().unwrap()
}
