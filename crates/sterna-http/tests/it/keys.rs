//! Sources of an issuer's keys, and the frequency of requests to them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sterna_http::Probes;
use sterna_http::auth::{Gate, JwksFile, JwksSource, JwtConfig, Loading, ResourceServer};

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
    // The call that finds the keys stale is judged by them, and has them fetched again.
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(call(&mut wire, &old.token(), "who").await.status, 200);
    asked(&publisher, 3).await;
    check_refused(&mut wire, "withdrawn", &old.token()).await;
    assert_eq!(publisher.asked(), 3);
}

/// Waits until the keys have been asked for `count` times, and have come.
async fn asked(publisher: &Publisher, count: usize) {
    while publisher.asked() < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn stale_keys_are_used_at_once_while_new_ones_are_fetched() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
    publisher.state.slow.store(true, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(600)).await;
    for round in 0..200 {
        let mut wire = server.connect().await;
        let start = tokio::time::Instant::now();
        assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
        let took = start.elapsed();
        assert!(
            took < Duration::from_millis(500),
            "call {round} took {took:?}"
        );
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    // They were asked for all the time, and not with every call.
    let times = publisher.asked();
    assert!((100..=202).contains(&times), "{times}");
}

#[tokio::test(start_paused = true)]
async fn a_server_without_calls_for_long_asks_before_it_believes_old_keys() {
    let (old, new) = (Key::new("old", "ES256"), Key::new("new", "ES256"));
    let publisher = Publisher::start([&old]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &old.token(), "who").await.status, 200);
    publisher.publish([&new]);
    tokio::time::advance(Duration::from_secs(1200)).await;
    let mut wire = server.connect().await;
    check_refused(&mut wire, "withdrawn", &old.token()).await;

    // If the issuer is silent then, the first call waits for a second and no other does.
    publisher.state.slow.store(true, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(3600)).await;
    for limit in [1050, 50, 50] {
        let mut wire = server.connect().await;
        let start = tokio::time::Instant::now();
        assert_eq!(call(&mut wire, &new.token(), "who").await.status, 200);
        let took = start.elapsed();
        assert!(took < Duration::from_millis(limit), "{took:?}");
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_set_without_a_usable_key_replaces_nothing() {
    let key = Key::new("k", "ES256");
    let publisher = Publisher::start([&key]).await;
    let server = serve(resource_server(&publisher));
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
    for document in [r#"{"keys":[]}"#, r#"{"keys":[{"kty":"oct","k":"AQAB"}]}"#] {
        document.clone_into(&mut publisher.state.document.lock().unwrap());
        let before = publisher.asked();
        tokio::time::advance(Duration::from_secs(600)).await;
        let mut wire = server.connect().await;
        assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
        asked(&publisher, before + 1).await;
        assert_eq!(call(&mut wire, &key.token(), "who").await.status, 200);
    }
    // Not for ever: after a day the keys are too old.
    for _ in 0..24 {
        tokio::time::advance(Duration::from_secs(3600)).await;
        let mut wire = server.connect().await;
        call(&mut wire, &key.token(), "who").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let mut wire = server.connect().await;
    assert_eq!(call(&mut wire, &key.token(), "who").await.status, 503);
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

#[cfg(unix)]
#[test]
fn a_key_set_that_cannot_be_read_holds_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let (end, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut config = JwtConfig::default();
            config.keys.timeout = Duration::from_millis(50);
            config.keys.pause = Duration::ZERO;
            let source = JwksFile::new(&path);
            let server = serve(ResourceServer::new(RESOURCE, ISSUER, source, config).unwrap());
            let mut wire = server.connect().await;
            let token = Key::new("k", "ES256").token();
            for _ in 0..20 {
                assert_eq!(call(&mut wire, &token, "who").await.status, 503);
            }
        });
        // This waits for all threads that the runtime owns.
        drop(runtime);
        let _ = end.send(());
    });
    let waited = ended.recv_timeout(Duration::from_secs(20));
    assert!(waited.is_ok(), "the runtime does not end");
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
