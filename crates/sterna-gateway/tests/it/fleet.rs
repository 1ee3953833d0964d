//! Held calls whose answers reach another replica than their holder: replicas share
//! a store.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use sterna_client::Era;
use sterna_gateway::{Gateway, GatewayConfig};
use sterna_server::{SharedKeyring, Store};
use sterna_store_sqlite::{Config, SqliteStore};
use tempfile::TempDir;

use crate::carried::{answered, asked, done, next, question, ring};
use crate::resumable::{Events, Resumable};
use crate::{Running, until};

/// Gateways in front of one server, with one ring of keys and one file. Each has
/// connections of its own to the file, as processes have.
struct Replicas {
    ring: Arc<SharedKeyring>,
    config: GatewayConfig,
    folder: TempDir,
}

impl Replicas {
    fn of(server: &Resumable) -> Self {
        Self {
            ring: ring(),
            config: GatewayConfig::new(vec![server.config.clone()]),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    async fn start(&self) -> Running {
        let file = self.folder.path().join("store.db");
        let store = SqliteStore::open(Path::new(&file), Config::default()).unwrap();
        let mut config = self.config.clone();
        let store: Arc<dyn Store> = Arc::new(store);
        config.store = Some(store.into());
        let gateway = Gateway::start(config).await;
        let ring = Arc::clone(&self.ring);
        Running::serving(gateway.unwrap(), |server| server.shared_keys(ring))
    }
}

#[tokio::test]
async fn answers_reach_the_holder_of_a_call_from_any_replica() {
    let server = Resumable::start("only", Events::None).await;
    let replicas = Replicas::of(&server);
    let (one, two) = (replicas.start().await, replicas.start().await);
    let first = answered(asked(&one).await, "Ann", &two);
    let second = next(&first, &two).await;
    assert!(question(&second).contains("Ann, really?"));
    // The holder itself, then the others: one outcome for the same retry.
    let second = answered(second, "Bob", &one);
    assert_eq!(done(&second, &one).await, "Hello, Bob!");
    let elsewhere = second.clone().dangerous_moved_to(&two.url);
    for _ in 0..2 {
        assert_eq!(done(&elsewhere, &two).await, "Hello, Bob!");
    }
    assert_eq!((server.greeted(), server.cancelled()), (1, 0));
}

#[tokio::test]
async fn a_holder_that_is_gone_before_the_answers_has_given_none() {
    let server = Resumable::start("only", Events::None).await;
    let replicas = Replicas::of(&server);
    let (one, two, three) = (
        replicas.start().await,
        replicas.start().await,
        replicas.start().await,
    );
    let paused = answered(asked(&one).await, "Ann", &two);
    drop(one);
    let expected = json!({"server": "only", "reason": "held_call_gone", "outcome": "none"});
    // The second one reads what the first one found out.
    for gateway in [&two, &three] {
        let client = gateway.plain(Era::Modern).await;
        let paused = paused.clone().dangerous_moved_to(&gateway.url);
        let gone = paused.resume(&client).await.unwrap_err();
        let gone = gone.rpc().unwrap().clone();
        assert!(gone.message.contains("MR0902"), "{gone:?}");
        assert_eq!(gone.data, Some(expected.clone()));
    }
    assert_eq!(server.greeted(), 0);
}

#[tokio::test]
async fn a_holder_that_is_gone_with_the_answers_leaves_the_outcome_unknown() {
    let server = Resumable::start("only", Events::None).await;
    server.server.hangs.store(true, Ordering::SeqCst);
    let replicas = Replicas::of(&server);
    let (one, two) = (replicas.start().await, replicas.start().await);
    let second = next(&answered(asked(&one).await, "Ann", &two), &two).await;
    let second = answered(second, "Bob", &two);
    let client = two.plain(Era::Modern).await;
    let mut resuming = Box::pin(second.resume(&client).into_future());
    tokio::select! {
        () = until("the effect has come", || server.greeted() == 1) => {}
        step = &mut resuming => panic!("it hangs: {step:?}"),
    }
    drop(one);
    let gone = resuming.await.unwrap_err();
    let gone = gone.rpc().unwrap().clone();
    assert!(gone.message.contains("MR0902"), "{gone:?}");
    assert_eq!(gone.data.unwrap()["outcome"], "unknown");
    assert_eq!(server.greeted(), 1);
}

#[tokio::test]
async fn the_caps_of_held_calls_are_those_of_their_holder() {
    let server = Resumable::start("only", Events::None).await;
    let mut replicas = Replicas::of(&server);
    replicas.config.held_per_caller = 1;
    let (one, two) = (replicas.start().await, replicas.start().await);
    let first = asked(&one).await;
    let client = one.plain(Era::Modern).await;
    let refused = client.call("greet").start().await.unwrap_err();
    assert!(refused.rpc().unwrap().message.contains("MR0903"));
    // The place of the first question is that of the second one.
    let second = next(&answered(first, "Ann", &two), &two).await;
    let refused = client.call("greet").start().await.unwrap_err();
    assert!(refused.rpc().unwrap().message.contains("MR0903"));
    assert_eq!(
        done(&answered(second, "Bob", &two), &two).await,
        "Hello, Bob!"
    );
}
