//! Where an issuer's keys come from, and how often they are asked for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sterna_server::auth::{Gate, JwksFile, JwksSource, JwtConfig, Loading, ResourceServer};
use sterna_server::edge::Probes;

use crate::desk::Server;
use crate::issuer::{ISSUER, Key, Publisher, RESOURCE, key_set};
use crate::oauth::{call, check_refused, resource_server, serve};
use crate::wire::post;

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

/// A server whose keys were asked for by a caller that has hung up since. They
/// are slow to come.
async fn hung_up_on(key: &Key) -> (Publisher, Server) {
    let publisher = Publisher::start([key]).await;
    publisher.state.slow.store(true, Ordering::SeqCst);
    let server = serve(resource_server(&publisher));
    let asked = publisher.state.moved.notified();
    let mut first = server.connect().await;
    first.send(&post(&bearer(key), "who")).await;
    asked.await;
    drop(first);
    (publisher, server)
}

fn bearer(key: &Key) -> String {
    format!("Authorization: Bearer {}\r\n", key.token())
}

#[tokio::test]
async fn a_peer_that_hangs_up_does_not_use_up_the_fetch_others_wait_for() {
    let key = Key::new("k", "ES256");
    let (publisher, server) = hung_up_on(&key).await;
    let mut second = server.connect().await;
    second.send(&post(&bearer(&key), "who")).await;
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
    let mut wires = Vec::new();
    for _ in 0..20 {
        let mut wire = server.connect().await;
        wire.send(&post(&bearer(&key), "who")).await;
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
async fn a_fetch_that_everybody_left_is_begun_anew() {
    let key = Key::new("k", "ES256");
    let (publisher, server) = hung_up_on(&key).await;
    publisher.state.slow.store(false, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(60)).await;
    let mut second = server.connect().await;
    assert_eq!(call(&mut second, &key.token(), "who").await.status, 200);
    assert_eq!(publisher.asked(), 2);
}

struct Panicking;

impl JwksSource for Panicking {
    fn load(&self) -> Loading {
        Box::pin(async { panic!("as told") })
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_panics_is_a_source_that_failed() {
    let config = JwtConfig::default();
    let server = serve(ResourceServer::new(RESOURCE, ISSUER, Panicking, config).unwrap());
    let mut wire = server.connect().await;
    let token = Key::new("k", "ES256").token();
    for _ in 0..3 {
        assert_eq!(call(&mut wire, &token, "who").await.status, 503);
        tokio::time::advance(Duration::from_secs(10)).await;
    }
}
