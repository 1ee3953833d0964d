//! What becomes of calls and tasks when Lambda does what it does.

use std::path::Path;
use std::time::{Duration, SystemTime};

use postgres_here::Postgres;
use serde_json::{Value, json};
use sterna_seal::{Key, Keyring, SecretKey, ThreadEntropy, UnixMillis};

use crate::sandbox::Sandbox;

fn now() -> UnixMillis {
    SystemTime::now().into()
}

fn new_key() -> Key {
    Key::new(SecretKey::generate(&mut ThreadEntropy).unwrap())
}

fn write(path: &Path, keys: impl IntoIterator<Item = Key>) {
    let fresh = path.with_extension("fresh");
    let ring = Keyring::new(keys).unwrap();
    std::fs::write(&fresh, ring.to_toml().as_str()).unwrap();
    std::fs::rename(fresh, path).unwrap();
}

async fn until(moment: UnixMillis) {
    while now() <= moment {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Begins an interview of `questions`.
async fn ask(sandbox: &Sandbox, questions: u32) -> Value {
    let params = json!({"name": "interview", "arguments": {"questions": questions}});
    sandbox.request("tools/call", params).await
}

/// Answers the question of `asked`, the `number`th of `questions`.
async fn answer(sandbox: &Sandbox, questions: u32, number: u32, asked: &Value) -> Value {
    let key = format!("q{number}");
    let answer = json!({"action": "accept", "content": {&key: format!("a{number}")}});
    let params = json!({
        "name": "interview",
        "arguments": {"questions": questions},
        "requestState": asked["requestState"],
        "inputResponses": {&key: answer},
    });
    sandbox.request("tools/call", params).await
}

fn text(result: &Value) -> &str {
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{result}"))
}

/// Sandboxes are killed between rounds, frozen while the keys are rotated, and
/// never work by themselves; no call and no task is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lambda_story() {
    let Some(postgres) = Postgres::start("fsync = off").unwrap() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (keys, database) = (folder.path().join("keys.toml"), postgres.connection());
    let old = new_key();
    write(&keys, [old.clone()]);
    let start = || Sandbox::start(&keys, &database);

    // The sandbox that asked is killed before the answer comes.
    let first = start().await;
    let asked = ask(&first, 2).await;
    drop(first);
    let second = start().await;
    let asked = answer(&second, 2, 1, &asked).await;
    drop(second);
    let one = start().await;
    assert_eq!(text(&answer(&one, 2, 2, &asked).await), "a1 a2");

    // Two hundred flows, each round in the other sandbox.
    let other = start().await;
    for flow in 0..200 {
        let (here, there) = if flow % 2 == 0 {
            (&one, &other)
        } else {
            (&other, &one)
        };
        let asked = ask(here, 2).await;
        let asked = answer(there, 2, 1, &asked).await;
        assert_eq!(text(&answer(here, 2, 2, &asked).await), "a1 a2");
    }

    // One is frozen with the old key until that has retired.
    one.freeze();
    let new = new_key();
    let retired = now() + Duration::from_millis(2500);
    let rotated = [old.retiring_at(retired), new.clone()];
    write(&keys, rotated);
    until(retired).await;
    let asked = ask(&other, 1).await;
    one.thaw();
    assert_eq!(text(&answer(&one, 1, 1, &asked).await), "a1");
    let asked = ask(&one, 1).await;
    assert_eq!(text(&answer(&other, 1, 1, &asked).await), "a1");

    // A task of three seconds, worked on for a second at a time, here and there.
    let params = json!({"name": "count", "arguments": {"steps": 6, "milliseconds": 500}});
    let task = one.request("tools/call", params).await;
    let id = task["taskId"].clone();
    let mut ticks = 0;
    let done = loop {
        let shown = other.request("tasks/get", json!({"taskId": id})).await;
        if shown["status"] == "completed" {
            break shown;
        }
        assert!(ticks < 20, "{shown}");
        let sandbox = if ticks % 2 == 0 { &one } else { &other };
        sandbox.tick(1).await;
        ticks += 1;
    };
    let processes: Vec<_> = text(&done["result"]).split(' ').collect();
    assert_eq!(processes.len(), 6);
    for sandbox in [&one, &other] {
        assert!(processes.contains(&&*sandbox.id()), "{processes:?}");
    }

    let binary = std::fs::metadata(env!("CARGO_BIN_EXE_lambda"))
        .unwrap()
        .len();
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    println!(
        "lambda ({profile}): init {} ms, binary {:.1} MB, task in {ticks} ticks",
        other.init.as_millis(),
        binary as f64 / 1e6,
    );
}
