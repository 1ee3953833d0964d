//! Tokens of an authorization server, as the spec has them checked.

use std::sync::atomic::Ordering;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use ring::hmac;
use serde_json::{Value, json};
use sterna_server::auth::{
    Algorithm, Gate, JwksFile, JwtConfig, ResourceServer, ScopePolicy, Scopes,
};
use sterna_server::edge::Probes;

use crate::desk::Server;
use crate::issuer::{ISSUER, Key, Publisher, RESOURCE, claims, key_set, now};
use crate::wire::{Answer, Wire, post};

const METADATA: &str = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";

fn resource_server(publisher: &Publisher) -> ResourceServer {
    let config = JwtConfig::default();
    ResourceServer::new(RESOURCE, ISSUER, publisher.source(), config).unwrap()
}

fn serve(resource: ResourceServer) -> Server {
    Server::guarded(Gate::guarded(resource), Probes::new(), |_| {})
}

async fn call(wire: &mut Wire, token: &str, body: &str) -> Answer {
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

async fn check_refused(wire: &mut Wire, what: &str, token: &str) {
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
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"the token is not accepted"}}"#
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
    let encode = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
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
    let secret = BASE64URL_NOPAD
        .decode(rsa.public()["n"].as_str().unwrap().as_bytes())
        .unwrap();
    let header = encode(json!({ "alg": "HS256", "kid": "rsa" }));
    let signed = format!("{header}.{payload}");
    let tag = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, &secret),
        signed.as_bytes(),
    );
    let forged = format!("{signed}.{}", BASE64URL_NOPAD.encode(tag.as_ref()));
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
async fn an_unknown_key_is_asked_for_but_not_too_often() {
    let (old, new) = (Key::new("old", "ES256"), Key::new("new", "ES256"));
    let publisher = Publisher::start([&old]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &old.token(), "who").await.status, 200);

    publisher.publish([&old, &new]);
    for _ in 0..20 {
        check_refused(&mut wire, "just asked", &new.token()).await;
    }
    assert_eq!(publisher.asked(), 1);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(call(&mut wire, &new.token(), "who").await.status, 200);
    assert_eq!(publisher.asked(), 2);

    publisher.publish([&new]);
    tokio::time::advance(Duration::from_secs(599)).await;
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &old.token(), "who").await.status, 200);
    tokio::time::advance(Duration::from_secs(1)).await;
    check_refused(&mut wire, "withdrawn", &old.token()).await;
    assert_eq!(publisher.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn old_keys_are_used_while_the_issuer_is_out_of_order() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
    publisher.break_down();
    for _ in 0..23 {
        tokio::time::advance(Duration::from_secs(3600)).await;
        let mut wire = server.connect().await;
        assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
    }
    tokio::time::advance(Duration::from_secs(3600)).await;
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &key.token(), "who").await.status, 503);
    publisher.publish([&key]);
    tokio::time::advance(Duration::from_secs(10)).await;
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_good_token_is_not_thrown_away_because_no_key_could_be_fetched() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    publisher.state.slow.store(true, Ordering::SeqCst);
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    let answer = call(&mut wire, &key.token(), "who").await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("5"));
    assert_eq!(answer.header("www-authenticate"), None);
}

#[tokio::test]
async fn a_peer_that_hangs_up_does_not_use_up_the_fetch_others_wait_for() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    publisher.state.slow.store(true, Ordering::SeqCst);
    let server = serve(resource_server(&publisher));
    let asked = publisher.state.moved.notified();
    let line = format!("Authorization: Bearer {}\r\n", key.token());
    let mut first = server.connect().await;
    first.send(&post(&line, "who")).await;
    asked.await;
    drop(first);
    let mut second = server.connect().await;
    second.send(&post(&line, "who")).await;
    // Only the fetch under way can answer: a new one would be asked for and not let go.
    let released = async {
        while publisher.asked() < 2 {
            publisher.state.go.notify_waiters();
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::select! {
        answer = second.answer() => answer,
        () = released => unreachable!("the keys were asked for again"),
    };
    assert_eq!(answer.status, 200);
    assert_eq!(publisher.asked(), 1);
}

#[tokio::test]
async fn many_who_wait_for_a_key_ask_for_it_once() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    publisher.state.slow.store(true, Ordering::SeqCst);
    let server = serve(resource_server(&publisher));
    let asked = publisher.state.moved.notified();
    let line = format!("Authorization: Bearer {}\r\n", key.token());
    let mut wires = Vec::new();
    for _ in 0..20 {
        let mut wire = server.connect().await;
        wire.send(&post(&line, "who")).await;
        wires.push(wire);
    }
    asked.await;
    publisher.state.slow.store(false, Ordering::SeqCst);
    publisher.state.go.notify_waiters();
    for wire in &mut wires {
        assert_eq!(wire.answer().await.status, 200);
    }
    assert_eq!(publisher.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn keys_in_a_file_are_read_again_when_they_change() {
    let (old, new) = (Key::new("old", "ES256"), Key::new("new", "EdDSA"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    std::fs::write(&path, key_set([&old])).unwrap();
    let config = JwtConfig::default();
    let resource = ResourceServer::new(RESOURCE, ISSUER, JwksFile::new(&path), config).unwrap();
    let probes = Probes::new().checking(resource.check());
    let server = Server::guarded(Gate::guarded(resource), probes, |_| {});
    let mut wire = server.connect().await;
    let ready = r#"{"ready":true,"checks":{"jwks":{"passing":true,"ids":["old"]}}}"#;
    assert_eq!(wire.get("/readyz").await.body, ready);
    assert_eq!(call(&mut wire, &old.token(), "who").await.status, 200);
    std::fs::write(&path, key_set([&new])).unwrap();
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(call(&mut wire, &new.token(), "who").await.status, 200);
    check_refused(&mut wire, "withdrawn", &old.token()).await;
}

#[tokio::test]
async fn a_server_without_keys_is_not_ready() {
    let config = JwtConfig::default();
    let file = JwksFile::new("/nowhere/jwks.json");
    let resource = ResourceServer::new(RESOURCE, ISSUER, file, config).unwrap();
    let probes = Probes::new().checking(resource.check());
    let server = Server::guarded(Gate::guarded(resource), probes, |_| {});
    let answer = server.connect().await.get("/readyz").await;
    assert_eq!(answer.status, 503);
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
