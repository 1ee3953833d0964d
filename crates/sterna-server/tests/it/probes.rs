//! What operators see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sterna_seal::{Keyring, SharedKeyring, ThreadEntropy};
use sterna_server::auth::Gate;
use sterna_server::edge::{Check, Checking, Health, Probes};

use crate::desk::Server;
use crate::wire::Wire;

#[derive(Clone, Default)]
struct Keys {
    broken: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl Check for Keys {
    fn name(&self) -> &'static str {
        "keys"
    }

    fn check(&self) -> Checking {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let broken = self.broken.load(Ordering::SeqCst);
        Box::pin(async move {
            if broken {
                std::future::pending::<()>().await;
            }
            Health::passing().with_ids(["a1b2".to_owned()])
        })
    }
}

#[tokio::test(start_paused = true)]
async fn readiness_lists_the_checks_and_asks_them_at_most_once_a_second() {
    let keys = Keys::default();
    let probes = Probes::new().checking(keys.clone());
    let server = Server::guarded(Gate::open(), probes, |_| {});
    let mut wire = server.connect().await;
    let ready = json!({"ready": true, "checks": {"keys": {"passing": true, "ids": ["a1b2"]}}});
    for _ in 0..3 {
        let answer = wire.get("/readyz").await;
        assert_eq!((answer.status, read(&answer.body)), (200, ready.clone()));
    }
    assert_eq!(keys.asked.load(Ordering::SeqCst), 1);

    keys.broken.store(true, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(2)).await;
    let answer = wire.get("/readyz").await;
    let unready = json!({"ready": false, "checks": {"keys": {"passing": false}}});
    assert_eq!((answer.status, read(&answer.body)), (503, unready));
    assert_eq!(wire.get("/livez").await.status, 200);
}

/// A report as what it says: the order of its members is nobody's promise.
fn read(report: &str) -> Value {
    serde_json::from_str(report).unwrap()
}

#[tokio::test]
async fn those_who_probe_need_no_name_of_ours_but_must_not_be_foreign_pages() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    for path in ["/livez", "/readyz"] {
        let probe = format!("GET {path} HTTP/1.1\r\nHost: 10.1.2.3:8080\r\n\r\n");
        wire.send(&probe).await;
        assert_eq!(wire.answer().await.status, 200, "{path}");
        let page = "Origin: http://evil.example\r\n\r\n";
        wire.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{page}"))
            .await;
        assert_eq!(wire.answer().await.status, 403, "{path}");
        wire.send(&format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            .await;
        let answer = wire.answer().await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some("GET, HEAD"))
        );
    }
}

#[tokio::test]
async fn numbers_are_shown_only_when_asked_for() {
    let server = Server::start(|_| {});
    assert_eq!(server.connect().await.get("/metrics").await.status, 404);

    let server = Server::start(|config| config.metrics = true);
    let mut wire = server.connect().await;
    wire.call("hello").await;
    wire.call_with("Origin: http://evil.example\r\n", "x").await;
    let text = wire.get("/metrics").await.body;
    for line in [
        "sterna_http_responses_total{class=\"2xx\"} 1",
        "sterna_http_responses_total{class=\"4xx\"} 1",
        "sterna_http_refused_total{reason=\"foreign_origin\"} 1",
        "sterna_http_response_seconds_count 2",
        "sterna_http_calls 0",
        "sterna_http_connections 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn sealing_keys_follow_their_file_and_a_broken_file_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    let ring = || Keyring::generate(&mut ThreadEntropy).unwrap();
    let id = |ring: &Keyring| ring.keys().next().unwrap().id().to_string();
    let (first, second) = (ring(), ring());
    std::fs::write(&path, first.to_toml().as_str()).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "a key file is for the time we live in"
    )]
    let now = std::time::SystemTime::now();
    let keys = Arc::new(SharedKeyring::from_file(&path, now.into()).unwrap());
    let server = sterna_server::Server::new("keys", "1").shared_keys(keys);
    let service = server.build().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = tokio::task::JoinSet::new();
    serving.spawn(service.serve_on(listener, std::future::pending()));

    for (text, expected) in [
        (None, &first),
        (Some(second.to_toml().as_str()), &second),
        (Some("half a fi"), &second),
    ] {
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
            tokio::time::sleep(Duration::from_secs(11)).await;
        }
        let mut wire = Wire::connect(address).await;
        let report = read(&wire.get("/readyz").await.body);
        let keys = json!({"passing": true, "ids": [id(expected)]});
        assert_eq!(report["checks"]["keys"], keys);
    }
}
