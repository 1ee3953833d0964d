//! Which requests reach the endpoint.

use std::sync::atomic::Ordering;
use std::time::SystemTime;

use http::request::Parts;
use sterna_http::Probes;
use sterna_http::auth::{AuthOutcome, Authenticator, Gate};

use crate::desk::Server;
use crate::wire::{Wire, post};

#[tokio::test]
async fn a_plain_call_is_answered_on_a_connection_that_stays() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    for _ in 0..3 {
        let answer = wire.call("hello").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body, "hello");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("content-length"), Some("5"));
        assert_eq!(answer.header("connection"), None);
    }
    assert_eq!(server.stop().await.aborted, 0);
}

#[tokio::test]
async fn a_foreign_origin_is_refused_even_with_a_good_host() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    for origin in ["http://evil.example.com", "null", "https://localhost.evil"] {
        let answer = wire.call_with(&format!("Origin: {origin}\r\n"), "x").await;
        assert_eq!(answer.status, 403, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    for origin in [
        "http://localhost:6274",
        "http://[::1]:1",
        "http://127.0.0.1",
    ] {
        let answer = wire.call_with(&format!("Origin: {origin}\r\n"), "x").await;
        assert_eq!(answer.status, 200, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("vary"), Some("Origin"));
    }
}

#[tokio::test]
async fn a_server_of_pages_is_called_by_its_own_pages_and_no_others() {
    let server = Server::start(|config| config.pages = true);
    let mut wire = server.connect().await;
    for origin in [
        "http://localhost:6274",
        "http://127.0.0.1",
        "http://evil.example.com",
        "null",
        "",
    ] {
        let answer = wire.call_with(&format!("Origin: {origin}\r\n"), "x").await;
        assert_eq!(answer.status, 403, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let answer = wire.call_with("Origin: http://localhost\r\n", "x").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    // A form is no JSON, and a page wants no events.
    let form = post("Accept: text/html\r\n", "a=b")
        .replace("application/json", "application/x-www-form-urlencoded");
    wire.send(&form).await;
    assert_eq!(wire.answer().await.body, "a=b");
}

#[tokio::test]
async fn a_foreign_host_is_refused_and_a_missing_one_is_an_error() {
    let server = Server::start(|config| config.hosts.push("mcp.example.com".to_owned()));
    let own = server.address.to_string();
    for (host, status) in [
        ("Host: evil.example.com\r\n", 403),
        ("Host: localhost\r\nHost: localhost\r\n", 400),
        ("Host: \r\n", 400),
        ("", 400),
        ("Host: mcp.example.com\r\n", 200),
        ("Host: [::1]:80\r\n", 200),
        (&format!("Host: {own}\r\n"), 200),
    ] {
        let mut wire = server.connect().await;
        let request = post("", "x").replace("Host: localhost\r\n", host);
        wire.send(&request).await;
        assert_eq!(wire.answer().await.status, status, "{host}");
    }
}

#[tokio::test]
async fn a_connection_that_was_let_in_is_judged_again_under_another_name() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    for (host, status) in [
        ("Host: localhost\r\n", 200),
        ("Host: localhost\r\n", 200),
        ("Host: evil.example.com\r\n", 403),
        ("Host: localhost\r\n", 200),
        ("Host: localhost\r\nHost: evil.example.com\r\n", 400),
    ] {
        let request = post("", "x").replace("Host: localhost\r\n", host);
        check(&mut wire, &request, status).await;
    }
}

async fn check(wire: &mut Wire, request: &str, status: u16) -> crate::wire::Answer {
    wire.send(request).await;
    let answer = wire.answer().await;
    assert_eq!(answer.status, status, "{request}");
    answer
}

#[tokio::test]
async fn other_paths_and_methods_are_refused_by_name() {
    let server = Server::start(|config| config.get_and_delete = false);
    let mut wire = server.connect().await;
    let other = post("", "x").replace("/mcp", "/other");
    check(&mut wire, &other, 404).await;
    for method in ["GET", "DELETE", "PUT", "OPTIONS", "BREW"] {
        let request = format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let answer = check(&mut wire, &request, 405).await;
        assert_eq!(answer.header("allow"), Some("POST"));
    }
}

#[tokio::test]
async fn get_and_delete_reach_the_endpoint_for_older_clients() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let host = "HTTP/1.1\r\nHost: localhost\r\n";
    let events = "Accept: text/event-stream\r\n\r\n";
    check(&mut wire, &format!("GET /mcp {host}{events}"), 200).await;
    check(&mut wire, &format!("DELETE /mcp {host}\r\n"), 200).await;
    let html = format!("GET /mcp {host}Accept: text/html\r\n\r\n");
    check(&mut wire, &html, 406).await;
    let put = format!("PUT /mcp {host}\r\n");
    let answer = check(&mut wire, &put, 405).await;
    assert_eq!(answer.header("allow"), Some("POST, GET, DELETE"));
}

#[tokio::test]
async fn a_body_is_json_and_the_answer_is_readable() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let json = "Content-Type: application/json\r\n";
    let accept = "Accept: application/json, text/event-stream\r\n";
    for (from, to, status) in [
        (json, "Content-Type: text/plain\r\n", 415),
        (json, "", 415),
        (
            json,
            "Content-Type: application/json; charset=utf-8\r\n",
            200,
        ),
        (accept, "Accept: text/html\r\n", 406),
        (accept, "", 200),
        (accept, "Accept: application/json\r\n", 200),
        (
            accept,
            "Accept: text/event-stream, application/json\r\n",
            200,
        ),
        (accept, "accept: */*\r\n", 200),
    ] {
        check(&mut wire, &post("", "x").replace(from, to), status).await;
    }
}

#[tokio::test]
async fn a_page_we_serve_may_ask_before_it_calls() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let request = |origin: &str| {
        format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\n\
             Access-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: content-type, mcp-param-region\r\n\r\n"
        )
    };
    let answer = check(&mut wire, &request("http://localhost:1"), 204).await;
    let allowed = answer.header("access-control-allow-headers");
    assert_eq!(allowed, Some("content-type, mcp-param-region"));
    let methods = answer.header("access-control-allow-methods");
    assert_eq!(methods, Some("POST, GET, DELETE"));
    check(&mut wire, &request("http://evil.example"), 403).await;
}

#[derive(Debug)]
struct Panicking;

impl Authenticator for Panicking {
    fn authenticate(&self, _head: &Parts, _now: SystemTime) -> AuthOutcome {
        panic!("as told")
    }
}

#[tokio::test]
async fn an_authenticator_that_panics_refuses_every_caller() {
    let server = Server::guarded(Gate::guarded(Panicking), Probes::new(), |_| {});
    let mut wire = server.connect().await;
    assert_eq!(wire.call("x").await.status, 500);
    assert_eq!(wire.get("/livez").await.status, 200);
    assert_eq!(server.state.begun.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_call_that_panics_fails_alone() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let answer = wire.call("panic").await;
    assert_eq!(answer.status, 500);
    assert!(answer.body.contains("internal error"), "{}", answer.body);
    assert_eq!(wire.call("hello").await.body, "hello");
}

/// A newcomer who calls `/` learns where the endpoint is; a page of elsewhere,
/// and a name that was pointed here, do not.
#[tokio::test]
async fn a_wrong_path_is_answered_with_the_right_one() {
    let server = Server::start(|config| config.metrics = false);
    let told = async |head: &str, path: &str| {
        let mut wire = server.connect().await;
        let request = post("", "x").replacen("/mcp", path, 1);
        wire.send(&request.replace("Host: localhost\r\n", head))
            .await;
        let answer = wire.answer().await;
        (answer.status, answer.body)
    };
    for path in ["/", "/mcp/", "/sse"] {
        let (status, text) = told("Host: localhost\r\n", path).await;
        assert_eq!(status, 404);
        assert!(text.contains("the endpoint is at /mcp"), "{text}");
    }
    for (head, path) in [
        ("Host: evil.example.com\r\n", "/"),
        (
            "Host: localhost\r\nOrigin: https://evil.example.com\r\n",
            "/",
        ),
        ("Host: evil.example.com\r\n", "/metrics"),
    ] {
        let (status, text) = told(head, path).await;
        assert!(status >= 400, "{status}");
        assert!(!text.contains("/mcp"), "{text}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_to_send_instead() {
    let server = Server::start(|_| {});
    for (change, with, expected) in [
        ("POST /mcp", "PUT /mcp", "use one of: POST"),
        (
            "application/json",
            "text/plain",
            "`Content-Type` must be application/json",
        ),
        (
            "Host: localhost",
            "Host: evil.example.com",
            "`HttpConfig::hosts`",
        ),
        (
            "Host: localhost",
            "Host: localhost\r\nOrigin: https://evil.example.com",
            "`HttpConfig::origins`",
        ),
    ] {
        let mut wire = server.connect().await;
        wire.send(&post("", "x").replacen(change, with, 1)).await;
        let answer = wire.answer().await;
        assert!(answer.body.contains(expected), "{}", answer.body);
    }
}
