//! Keys of a mounted service are read again when a request finds them old.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use sterna_seal::{KeySource, Keyring, SecretKey, ThreadEntropy};
use sterna_server::http::Clock;
use sterna_server::{Cx, KeyVariable, Server, ToolError};

use super::{Client, accept, show};
use crate::telemetry::capture::Capture;

/// Wall clock that the tests move.
#[derive(Clone, Default)]
struct Hands(Arc<AtomicI64>);

impl Hands {
    fn turn(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    fn clock(&self) -> Clock {
        let hands = self.clone();
        Clock::new(move || {
            let seconds = 1_785_231_000 + hands.0.load(Ordering::SeqCst);
            SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.try_into().unwrap())
        })
    }
}

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let name: String = cx.ask("name", "Your name?").await?;
    Ok(format!("hello {name}"))
}

fn server(hands: &Hands) -> Server {
    Server::new("greeter", "1")
        .tool("greet", "", greet)
        .anonymous()
        .clock(hands.clock())
}

fn ring() -> Keyring {
    Keyring::generate(&mut ThreadEntropy).unwrap()
}

async fn ask(client: &Client) -> Value {
    client.call_tool("greet", json!({})).await
}

async fn answer(client: &Client, asked: &Value) -> String {
    let params = json!({"name": "greet", "arguments": {}});
    let answers = json!({"name": accept(json!({"name": "Ada"}))});
    let reply = client.retry("tools/call", &params, asked, answers).await;
    match reply.messages.last().unwrap().get("error") {
        Some(_) => reply.error(),
        None => show(&reply.into_result()),
    }
}

/// An instance that was frozen when the keys were rotated, as AWS Lambda freezes
/// one, opens with the first request the state of an instance that was not.
#[tokio::test]
async fn a_mounted_service_follows_a_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    let (old, hands) = (ring(), Hands::default());
    std::fs::write(&path, old.to_toml().as_str()).unwrap();
    let frozen = Client::at(server(&hands).key_file(&path).build().unwrap());
    let before = ask(&frozen).await;
    assert_eq!(answer(&frozen, &before).await, "hello Ada");

    let secret = SecretKey::generate(&mut ThreadEntropy).unwrap();
    let (now, hour) = (hands.clock().now().into(), Duration::from_secs(3600));
    let rotated = old.rotate(secret, now + hour, hour, now).unwrap();
    std::fs::write(&path, rotated.to_toml().as_str()).unwrap();
    // The old key has retired.
    hands.turn(3 * 3600);

    let awake = Client::at(server(&hands).key_file(&path).build().unwrap());
    let asked = ask(&awake).await;
    assert_eq!(answer(&frozen, &asked).await, "hello Ada");

    let asked = ask(&frozen).await;
    assert_eq!(answer(&awake, &asked).await, "hello Ada");
}

/// Source that the tests rule over.
#[derive(Clone)]
struct Scripted {
    next: Arc<Mutex<Act>>,
    reads: Arc<AtomicUsize>,
}

enum Act {
    Give(&'static str),
    Hang(Sender<()>),
    Panic,
}

impl Scripted {
    fn new(text: &'static str) -> Self {
        Self {
            next: Arc::new(Mutex::new(Act::Give(text))),
            reads: Arc::default(),
        }
    }

    fn then(&self, act: Act) {
        *self.next.lock().unwrap() = act;
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    fn source(&self) -> impl KeySource + use<> {
        let script = self.clone();
        move || {
            script.reads.fetch_add(1, Ordering::SeqCst);
            let text = match &*script.next.lock().unwrap() {
                Act::Give(text) => *text,
                Act::Hang(hangs) => {
                    let (keep, never) = channel::<()>();
                    let _ = hangs.send(());
                    let _ = never.recv_timeout(Duration::from_secs(60));
                    drop(keep);
                    "too late"
                }
                Act::Panic => "",
            };
            assert!(!text.is_empty(), "as told");
            Ok(Keyring::from_compact(text)?)
        }
    }
}

const FIRST: &str = "Zmlyc3Qga2V5IGZpcnN0IGtleSBmaXJzdCBrZXkgISE";
const BOTH: &str = "Zmlyc3Qga2V5IGZpcnN0IGtleSBmaXJzdCBrZXkgISE \
                    c2Vjb25kIGtleSBzZWNvbmQga2V5IHNlY29uZCBrZXk";

#[tokio::test]
async fn a_source_that_fails_or_panics_leaves_the_keys_in_use() {
    let (capture, _guard) = Capture::start();
    let (hands, script) = (Hands::default(), Scripted::new(BOTH));
    let client = Client::at(server(&hands).key_source(script.source()).build().unwrap());
    let asked = ask(&client).await;
    // Without a key, with one that is too short, with none that is active, and a panic.
    for (act, code) in [
        (Act::Give(" "), "MR0600"),
        (Act::Give("c2hvcnQ"), "MR0600"),
        (
            Act::Give("Zmlyc3Qga2V5IGZpcnN0IGtleSBmaXJzdCBrZXkgISE@2126-01-01T00:00:00Z"),
            "MR0600",
        ),
        (Act::Panic, "MR0151"),
    ] {
        let said = capture.text().matches(code).count();
        script.then(act);
        hands.turn(60);
        assert_eq!(answer(&client, &asked).await, "hello Ada");
        assert_eq!(capture.text().matches(code).count(), said + 1, "{code}");
    }
    assert_eq!(script.reads(), 5);
}

/// The source decides: its operator may have taken a key back.
#[tokio::test]
async fn an_older_ring_is_used_and_said_to_refuse_states() {
    let (capture, _guard) = Capture::start();
    let (hands, script) = (Hands::default(), Scripted::new(BOTH));
    let client = Client::at(server(&hands).key_source(script.source()).build().unwrap());
    let asked = ask(&client).await;
    script.then(Act::Give(FIRST));
    hands.turn(60);
    let refused = answer(&client, &asked).await;
    assert!(refused.starts_with("400 -32602"), "{refused}");
    assert!(capture.text().contains("MR0601"), "{}", capture.text());
}

#[tokio::test]
async fn a_source_that_hangs_delays_the_requests_of_two_seconds_and_no_others() {
    let (capture, _guard) = Capture::start();
    let (hands, script) = (Hands::default(), Scripted::new(FIRST));
    let client = Client::at(server(&hands).key_source(script.source()).build().unwrap());
    let (hangs, hung) = channel();
    script.then(Act::Hang(hangs));
    hands.turn(60);
    let begun = tokio::time::Instant::now();
    let asked = ask(&client).await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    hung.recv().unwrap();
    for _ in 0..100 {
        hands.turn(20);
        assert_eq!(answer(&client, &asked).await, "hello Ada");
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(script.reads(), 2);
    assert_eq!(capture.text().matches("MR0151").count(), 1);
}

#[tokio::test]
async fn keys_are_read_once_for_each_interval_and_when_the_clock_was_set_back() {
    let (hands, script) = (Hands::default(), Scripted::new(FIRST));
    let client = Client::at(server(&hands).key_source(script.source()).build().unwrap());
    for _ in 0..50 {
        ask(&client).await;
    }
    assert_eq!(script.reads(), 1);
    script.then(Act::Give(BOTH));
    // Old, but not so old that a request waits: the read is beside it.
    hands.turn(11);
    ask(&client).await;
    while script.reads() < 2 {
        tokio::task::yield_now().await;
    }
    hands.turn(-24 * 3600);
    for _ in 0..50 {
        ask(&client).await;
    }
    assert_eq!(script.reads(), 3);
}

#[test]
fn a_source_that_cannot_be_used_at_first_keeps_the_server_from_being_built() {
    let hands = Hands::default();
    let told = |server: Server| server.build().unwrap_err().to_string();
    let variable = KeyVariable::new("STERNA_TEST_NO_SUCH_VARIABLE");
    assert_eq!(
        told(server(&hands).key_source(variable)),
        "MR0200: the server cannot be built: MR0208: cannot read the environment variable \
         STERNA_TEST_NO_SUCH_VARIABLE: it is not set"
    );
    let failing = told(server(&hands).key_source(|| Err("the vault is sealed".into())));
    let cause = "MR0208: the key source failed: the vault is sealed";
    assert!(failing.contains(cause), "{failing}");
    let panicking = told(server(&hands).key_source(Scripted::new("").source()));
    let cause = "MR0208: cannot read the key source: it panicked";
    assert!(panicking.contains(cause), "{panicking}");
}
