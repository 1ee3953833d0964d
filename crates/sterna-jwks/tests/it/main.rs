//! Fetching keys from a TLS server, for a resource server that waits for them.
#![cfg(test)]

mod authority;

use std::time::Duration;

use sterna_http::auth::{JwtConfig, ResourceServer};
use sterna_http::{Check, Health};
use sterna_jwks::{JwksUrl, UrlError};

use authority::Authority;

/// A resource server that believes `authority`.
fn resource_server(authority: &Authority, host: &str, pem: &str) -> ResourceServer {
    let url = authority.url(host);
    let keys = JwksUrl::trusting(&url, pem.as_bytes()).unwrap();
    let config = JwtConfig::default();
    let issuer = "https://login.example.com";
    ResourceServer::new("https://mcp.example.com/mcp", issuer, keys, config).unwrap()
}

fn ready(ids: &[&str]) -> Health {
    Health::passing().with_ids(ids.iter().copied().map(str::to_owned))
}

#[tokio::test(start_paused = true)]
async fn keys_come_over_tls_and_are_kept_until_they_are_old() {
    let authority = Authority::start().await;
    authority.answer(200, "", authority::KEYS);
    let server = resource_server(&authority, "localhost", &authority.pem);
    for _ in 0..5 {
        assert_eq!(server.check().check().await, ready(&["one"]));
        tokio::time::advance(Duration::from_secs(60)).await;
    }
    assert_eq!(authority.asked(), 1);
    // A day without an answer, and the old keys are not believed any more.
    authority.answer(500, "", "");
    tokio::time::advance(Duration::from_secs(24 * 3600)).await;
    assert_eq!(server.check().check().await, Health::failing());
    assert_eq!(authority.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn nothing_but_a_document_of_bearable_size_is_taken() {
    let authority = Authority::start().await;
    let elsewhere = format!("Location: {}\r\n", authority.url("localhost"));
    let long = format!("{{\"keys\":[],\"pad\":\"{}\"}}", "x".repeat(600_000));
    for (status, headers, body) in [
        (200, "", long.as_str()),
        (204, "", ""),
        (301, elsewhere.as_str(), authority::KEYS),
        (302, elsewhere.as_str(), authority::KEYS),
        (307, elsewhere.as_str(), authority::KEYS),
        (404, "", authority::KEYS),
        (200, "", "<html>"),
    ] {
        authority.answer(status, headers, body);
        let before = authority.asked();
        let server = resource_server(&authority, "localhost", &authority.pem);
        let health = server.check().check().await;
        assert_eq!(health, Health::failing(), "{status} {headers}");
        // A redirect is not followed, not even to where we were told to go.
        assert_eq!(authority.asked(), before + 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_certificate_of_another_authority_or_for_another_name_is_refused() {
    let authority = Authority::start().await;
    authority.answer(200, "", authority::KEYS);
    let stranger = Authority::start().await;
    for (host, pem) in [("localhost", &stranger.pem), ("127.0.0.1", &authority.pem)] {
        let server = resource_server(&authority, host, pem);
        assert_eq!(server.check().check().await, Health::failing(), "{host}");
    }
    assert_eq!(authority.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_authority_that_does_not_answer_is_waited_for_five_seconds() {
    let authority = Authority::start().await;
    let server = resource_server(&authority, "localhost", &authority.pem);
    authority.say_nothing();
    let start = tokio::time::Instant::now();
    assert_eq!(server.check().check().await, Health::failing());
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[test]
fn an_authority_without_a_certificate_is_a_mistake() {
    let none = JwksUrl::trusting("https://localhost/keys", b"");
    assert!(matches!(none, Err(UrlError::NoRoots)));
}
