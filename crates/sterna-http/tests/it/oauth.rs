//! Tokens of an authorization server, as the spec has them checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};
use sterna_http::Probes;
use sterna_http::auth::{Algorithm, Gate, JwtConfig, ResourceServer, ScopePolicy, Scopes};
use sterna_http::clock::Clock;

use crate::desk::Server;
use crate::issuer::{ISSUER, Key, Publisher, RESOURCE, claims, now};
use crate::wire::{Answer, Wire, post};

const METADATA: &str = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";

pub(crate) fn resource_server(publisher: &Publisher) -> ResourceServer {
    let config = JwtConfig::default();
    ResourceServer::new(RESOURCE, ISSUER, publisher.source(), config).unwrap()
}

pub(crate) fn serve(resource: ResourceServer) -> Server {
    Server::guarded(Gate::guarded(resource), Probes::new(), |_| {})
}

pub(crate) async fn call(wire: &mut Wire, token: &str, body: &str) -> Answer {
    let line = format!("Authorization: Bearer {token}\r\n");
    wire.call_with(&line, body).await
}

#[tokio::test]
async fn a_token_of_a_trusted_issuer_names_the_caller() {
    let algorithms = [
        "EdDSA", "ES256", "ES384", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
    ];
    let keys = algorithms.map(|algorithm| Key::new(algorithm, algorithm));
    let publisher = Publisher::start(&keys).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    for key in &keys {
        let answer = call(&mut wire, &key.token(), "who").await;
        assert_eq!(answer.body, "Some(\"alice\")", "{}", key.algorithm);
    }
    assert_eq!(publisher.asked(), 1);
}

#[tokio::test]
async fn what_a_token_may_say_differently_is_understood() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    for changes in [
        json!({ "aud": ["https://other.example", RESOURCE] }),
        json!({ "aud": "HTTPS://MCP.Example.com/mcp" }),
        json!({ "exp": now() - 30 }),
        json!({ "nbf": now() + 30, "iat": now() + 30 }),
        json!({ "nbf": null, "iat": null }),
        json!({ "client_id": null, "azp": "app" }),
    ] {
        let token = key.sign(json!({}), &claims(changes.clone()));
        assert_eq!(
            call(&mut wire, &token, "who").await.status,
            200,
            "{changes}"
        );
    }
    for header in [
        json!({ "typ": "JWT" }),
        json!({ "typ": null }),
        json!({ "kid": null }),
    ] {
        let token = key.sign(header.clone(), &claims(json!({})));
        assert_eq!(call(&mut wire, &token, "who").await.status, 200, "{header}");
    }
}

#[tokio::test]
async fn a_token_expires_by_the_clock_of_the_configuration() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let ahead = Arc::new(AtomicU64::new(0));
    let reading = Arc::clone(&ahead);
    let start = now();
    let clock = Clock::new(move || {
        UNIX_EPOCH + Duration::from_secs(start + reading.load(Ordering::Relaxed))
    });
    let gate = Gate::guarded(resource_server(&publisher));
    let server = Server::guarded(gate, Probes::new(), |config| config.clock = clock);
    let mut wire = server.connect().await;
    let token = key.token();
    for (seconds, status) in [(0, 200), (3600, 200), (3600 + 61, 401)] {
        ahead.store(seconds, Ordering::Relaxed);
        let answer = call(&mut wire, &token, "who").await;
        assert_eq!(answer.status, status, "{seconds}");
    }
}

pub(crate) async fn check_refused(wire: &mut Wire, what: &str, token: &str) {
    let answer = call(wire, token, "who").await;
    assert_eq!(answer.status, 401, "{what}");
    let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{METADATA}\"");
    assert_eq!(
        answer.header("www-authenticate"),
        Some(&*challenge),
        "{what}"
    );
    assert_eq!(
        answer.body,
        r#"{"title":"Unauthorized","status":401,"detail":"the token is not accepted","reason":"invalid_token"}"#
    );
}

#[tokio::test]
async fn a_token_that_is_not_for_us_is_refused_without_saying_why() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    for changes in [
        json!({ "aud": "https://mcp.example.com" }),
        json!({ "aud": "https://mcp.example.com/mcp/" }),
        json!({ "aud": ["https://other.example"] }),
        json!({ "aud": null }),
        json!({ "aud": 7 }),
        json!({ "iss": "https://login.example.com/" }),
        json!({ "iss": null }),
        json!({ "sub": null }),
        json!({ "sub": "" }),
        json!({ "exp": now() - 61 }),
        json!({ "exp": null }),
        json!({ "exp": "soon" }),
        json!({ "exp": -1 }),
        json!({ "exp": 1e300 }),
        json!({ "nbf": now() + 120 }),
        json!({ "iat": now() + 120 }),
    ] {
        let token = key.sign(json!({}), &claims(changes.clone()));
        check_refused(&mut wire, &changes.to_string(), &token).await;
    }
}

#[tokio::test]
async fn a_token_signed_in_another_way_is_refused() {
    let (ours, theirs) = (Key::new("k", "ES256"), Key::new("k", "ES256"));
    let rsa = Key::new("rsa", "RS256");
    let publisher = Publisher::start([&ours, &rsa]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;

    let good = ours.token();
    assert_eq!(call(&mut wire, &good, "who").await.status, 200);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();

    check_refused(&mut wire, "another key", &theirs.token()).await;
    check_refused(&mut wire, "no signature", &format!("{signed}.")).await;
    let encode = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let none = encode(json!({ "alg": "none" }));
    check_refused(&mut wire, "alg none", &format!("{none}.{payload}.")).await;
    let other = encode(claims(json!({ "sub": "mallory" })));
    check_refused(
        &mut wire,
        "other claims",
        &format!("{header}.{other}.{signature}"),
    )
    .await;
    for header in [
        json!({ "alg": "ES384" }),
        json!({ "alg": "EdDSA" }),
        json!({ "alg": "RS256" }),
        json!({ "kid": "rsa" }),
        json!({ "typ": "dpop+jwt" }),
        json!({ "crit": ["exp"] }),
    ] {
        let token = ours.sign(header.clone(), &claims(json!({})));
        check_refused(&mut wire, &header.to_string(), &token).await;
    }

    // The public key passed off as a shared secret.
    let secret = URL_SAFE_NO_PAD
        .decode(rsa.public()["n"].as_str().unwrap())
        .unwrap();
    let header = encode(json!({ "alg": "HS256", "kid": "rsa" }));
    let signed = format!("{header}.{payload}");
    let tag = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, &secret),
        signed.as_bytes(),
    );
    let forged = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()));
    check_refused(&mut wire, "HS256", &forged).await;

    check_refused(&mut wire, "no token at all", "x").await;
    check_refused(&mut wire, "too long", &"x".repeat(20_000)).await;
}

#[tokio::test]
async fn an_algorithm_that_is_not_on_the_list_is_refused() {
    let key = Key::new("k", "RS256");
    let publisher = Publisher::start([&key]).await;
    let mut config = JwtConfig::default();
    config.algorithms = vec![Algorithm::Es256];
    let resource = ResourceServer::new(RESOURCE, ISSUER, publisher.source(), config).unwrap();
    let server = serve(resource);
    let mut wire = server.connect().await;
    check_refused(&mut wire, "RS256", &key.token()).await;
    assert_eq!(publisher.asked(), 0);
}

#[tokio::test]
async fn the_endpoint_sees_who_is_calling_and_not_the_token() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    let headers = call(&mut wire, &key.token(), "headers").await.body;
    assert!(headers.contains("content-type"), "{headers}");
    assert!(!headers.contains("authorization"), "{headers}");
}

#[tokio::test]
async fn each_issuer_has_its_own_keys() {
    let (one, two) = (Key::new("k", "ES256"), Key::new("k", "ES256"));
    let (first, second) = (
        Publisher::start([&one]).await,
        Publisher::start([&two]).await,
    );
    let other = "https://other.example.com";
    let server = serve(resource_server(&first).trusting(other, second.source()));
    let mut wire = server.connect().await;
    let of = |key: &Key, issuer| key.sign(json!({}), &claims(json!({ "iss": issuer })));
    assert_eq!(call(&mut wire, &of(&one, ISSUER), "who").await.status, 200);
    assert_eq!(call(&mut wire, &of(&two, other), "who").await.status, 200);
    check_refused(&mut wire, "keys of the other", &of(&two, ISSUER)).await;
    check_refused(&mut wire, "keys of the other", &of(&one, other)).await;
}

#[tokio::test]
async fn who_brings_no_token_is_told_where_to_get_one() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let policy = ScopePolicy::everywhere(Scopes::parse("mcp")).for_calls(|method, name| {
        match (method, name) {
            ("tools/call", Some("deploy")) => Scopes::parse("deploy"),
            _ => Scopes::none(),
        }
    });
    let gate = Gate::guarded(resource_server(&publisher)).with_scopes(policy);
    let server = Server::guarded(gate, Probes::new(), |_| {});
    let mut wire = server.connect().await;

    let answer = wire.call("who").await;
    assert_eq!(answer.status, 401);
    let challenge = format!("Bearer scope=\"mcp\", resource_metadata=\"{METADATA}\"");
    assert_eq!(answer.header("www-authenticate"), Some(&*challenge));

    let hint = "Mcp-Method: tools/call\r\nMcp-Name: deploy\r\n";
    let answer = wire.call_with(hint, "who").await;
    let challenge = format!("Bearer scope=\"deploy mcp\", resource_metadata=\"{METADATA}\"");
    assert_eq!(answer.header("www-authenticate"), Some(&*challenge));

    let request = post("", "who").replace("/mcp", &format!("/mcp?access_token={}", key.token()));
    wire.send(&request).await;
    assert_eq!(
        wire.answer().await.status,
        401,
        "a token in the query is not one"
    );

    let twice = "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n";
    let answer = wire.call_with(twice, "who").await;
    assert_eq!(answer.status, 400);
    assert!(answer.head.contains("error=\"invalid_request\""));
    assert_eq!(server.state.begun.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn scopes_are_asked_for_everywhere_and_per_tool() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let policy = ScopePolicy::everywhere(Scopes::parse("mcp"))
        .for_calls(|_, name| Scopes::parse(name.unwrap_or_default()))
        .implying("admin", Scopes::parse("mcp deploy"));
    let gate = Gate::guarded(resource_server(&publisher)).with_scopes(policy);
    let server = Server::guarded(gate, Probes::new(), |_| {});
    let mut wire = server.connect().await;
    for (scopes, tool, needed) in [
        (json!({ "scope": "mcp deploy" }), "deploy", None),
        (json!({ "scope": "admin" }), "deploy", None),
        (
            json!({ "scope": null, "scp": ["mcp", "deploy"] }),
            "deploy",
            None,
        ),
        (
            json!({ "scope": null, "scp": "mcp deploy" }),
            "deploy",
            None,
        ),
        (json!({ "scope": "mcp" }), "deploy", Some("deploy mcp")),
        (json!({ "scope": "admin" }), "delete", Some("delete mcp")),
        (json!({ "scope": "deploy" }), "deploy", Some("mcp")),
        (json!({ "scope": null }), "deploy", Some("mcp")),
    ] {
        let token = key.sign(json!({}), &claims(scopes.clone()));
        let answer = call(&mut wire, &token, &format!("may {tool}")).await;
        let Some(needed) = needed else {
            assert_eq!(answer.body, "yes", "{scopes} {tool}");
            continue;
        };
        assert_eq!(answer.status, 403, "{scopes} {tool}");
        let challenge = format!(
            "Bearer error=\"insufficient_scope\", scope=\"{needed}\", \
             resource_metadata=\"{METADATA}\""
        );
        assert_eq!(answer.header("www-authenticate"), Some(&*challenge));
    }
}

#[tokio::test]
async fn the_metadata_document_is_at_both_well_known_paths() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher).offering(&Scopes::parse("mcp")));
    let mut wire = server.connect().await;
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let answer = wire.get(path).await;
        assert_eq!(answer.status, 200);
        let document: Value = serde_json::from_str(&answer.body).unwrap();
        let expected = json!({
            "resource": RESOURCE,
            "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["mcp"],
        });
        assert_eq!(document, expected);
    }
    let other = wire
        .get("/.well-known/oauth-protected-resource/other")
        .await;
    assert_eq!(other.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_ends_with_the_token_it_was_opened_with() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    let token = key.sign(json!({}), &claims(json!({ "exp": now() + 600 })));
    let line = format!("Authorization: Bearer {token}\r\n");
    let start = tokio::time::Instant::now();
    wire.send(&post(&line, "listen")).await;
    wire.rest().await;
    let lived = start.elapsed().as_secs();
    assert!((655..=662).contains(&lived), "{lived}");
}
