//! Endpoints for operators.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sterna_http::auth::Gate;
use sterna_http::{Check, Checking, Health, Probes};

use crate::desk::Server;

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

/// A report as a value: the order of its members is not promised.
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

/// The answer to a probe that names `host`.
async fn probe(server: &Server, path: &str, host: &str) -> (u16, String) {
    let mut wire = server.connect().await;
    wire.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
        .await;
    let answer = wire.answer().await;
    (answer.status, answer.body)
}

#[tokio::test]
async fn a_name_that_is_not_ours_sees_neither_numbers_nor_details() {
    let probes = Probes::new().checking(Keys::default());
    let server = Server::guarded(Gate::open(), probes, |config| {
        config.metrics = true;
        config.hosts.push("mcp.example.com".to_owned());
    });
    let bare = json!({"ready": true});
    let details = json!({"ready": true, "checks": {"keys": {"passing": true, "ids": ["a1b2"]}}});
    // An address is no name that a page could have pointed at us.
    for host in ["localhost", "mcp.example.com:443", "10.1.2.3:8080", "[::1]"] {
        let (status, body) = probe(&server, "/readyz", host).await;
        assert_eq!((status, read(&body)), (200, details.clone()), "{host}");
        assert_eq!(probe(&server, "/metrics", host).await.0, 200, "{host}");
    }
    for host in [
        "evil.example",
        "mcp.example.com.evil.example",
        "10.1.2.3.evil.example",
    ] {
        let (status, body) = probe(&server, "/readyz", host).await;
        assert_eq!((status, read(&body)), (200, bare.clone()), "{host}");
        assert_eq!(probe(&server, "/metrics", host).await.0, 403, "{host}");
        let alive = (200, r#"{"alive":true}"#.to_owned());
        assert_eq!(probe(&server, "/livez", host).await, alive, "{host}");
    }
    assert_eq!(probe(&server, "/readyz", "").await.0, 200);
    assert_eq!(probe(&server, "/metrics", "").await.0, 400);
    server.shutdown.begin();
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
