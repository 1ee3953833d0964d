//! Other servers in place of those that a gateway has, while calls run and wait.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sterna_client::{Client, Era, Step};
use sterna_gateway::{GatewayConfig, StartError};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::upstream::{http, process};
use crate::{BOTH, Running, names, text, until};

#[tokio::test]
async fn a_server_comes_and_goes_and_calls_of_the_others_do_not_notice() {
    for upstream in BOTH {
        let (one, two) = (process("one", upstream), http("two", upstream));
        let mut prefixed = two.config.clone();
        prefixed.prefix = "two_".to_owned();
        let gateway = Running::of([one.clone()]).await;
        let client = gateway.plain(Era::Modern).await;
        let pid = text(&client.call("pid").await.unwrap());
        let servers = [one.clone(), prefixed.clone()];
        gateway.gateway.reload(&servers).await.unwrap();
        let client = gateway.plain(Era::Modern).await;
        assert!(names(&client).await.contains("two_echo"));
        let again = text(&client.call("pid").await.unwrap());
        assert_eq!(again, pid, "its process goes on");
        gateway.gateway.reload(&[prefixed]).await.unwrap();
        let client = gateway.plain(Era::Modern).await;
        assert!(!names(&client).await.contains("pid one"));
        client.call("pid").await.unwrap_err();
        let alive = || std::path::Path::new("/proc").join(&pid).exists();
        until("the process has ended", || !alive()).await;
        gateway.gateway.close().await;
    }
}

#[tokio::test]
async fn a_call_that_runs_ends_at_the_server_that_is_gone() {
    for upstream in BOTH {
        let (old, new) = (http("only", upstream), http("only", upstream));
        let gateway = Running::of([old.config.clone()]).await;
        let builder = Client::builder(&gateway.url).era(Era::Legacy);
        let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
        let (told, awaited) = (Arc::clone(&asked), Arc::clone(&answer));
        let client = builder.on_form(move |_| {
            let (told, awaited) = (Arc::clone(&told), Arc::clone(&awaited));
            async move {
                told.notify_one();
                awaited.acquire().await.unwrap().forget();
                let content = ElicitContent::from_iter([("name", "Ann")]);
                Ok(ElicitResult::accept(content))
            }
        });
        let client = client.connect().await.unwrap();
        let mut calling = JoinSet::new();
        calling.spawn(client.call("greet").into_future());
        asked.notified().await;
        gateway
            .gateway
            .reload(std::slice::from_ref(&new.config))
            .await
            .unwrap();
        answer.add_permits(2);
        let result = calling.join_next().await.unwrap().unwrap();
        let greeted =
            |server: &crate::upstream::Upstream| server.counts.greeted.load(Ordering::SeqCst);
        match upstream {
            // Its question is at the old server, on a session of its own.
            Era::Legacy => assert_eq!(text(&result.unwrap()), "Hello, Ann!"),
            // The state belongs to a server with other keys.
            _ => assert!(result.is_err()),
        }
        assert_eq!(greeted(&new), 0);
    }
}

#[tokio::test]
async fn a_call_that_is_held_is_answered_after_a_reload() {
    let server = http("only", Era::Legacy);
    let gateway = Running::of([server.config.clone()]).await;
    let client = gateway.client(Era::Modern).await;
    let Step::InputRequired(mut paused) = client.call("greet").start().await.unwrap() else {
        panic!("it asks");
    };
    let mut changed = server.config.clone();
    changed.tools.deny = vec!["echo".to_owned()];
    gateway.gateway.reload(&[changed]).await.unwrap();
    let key = paused.open().next().unwrap().0.to_owned();
    let content = ElicitContent::from_iter([("name", "Ann")]);
    paused.answer(&key, ElicitResult::accept(content)).unwrap();
    let result = paused.finish(&client).await.unwrap();
    assert_eq!(text(&result), "Hello, Ann!");
    assert_eq!(server.counts.greeted.load(Ordering::SeqCst), 1);
    assert!(!names(&client).await.contains("echo"));
}

#[tokio::test]
async fn servers_that_cannot_be_offered_together_change_nothing() {
    let (one, two) = (http("one", Era::Modern), http("two", Era::Modern));
    let mut config = GatewayConfig::new(vec![one.config.clone()]);
    config.list_timeout = Duration::from_secs(5);
    let gateway = Running::with(config, |server| server).await;
    let both = [one.config.clone(), two.config.clone()];
    let error = gateway.gateway.reload(&both).await.unwrap_err();
    assert!(matches!(error, StartError::Collision { .. }), "{error}");
    let error = gateway.gateway.reload(&[]).await.unwrap_err();
    assert!(matches!(error, StartError::NoServer), "{error}");
    let client = gateway.plain(Era::Modern).await;
    let echoed = client.call("echo").arg("word", "tern").await.unwrap();
    assert_eq!(text(&echoed), "tern");
}
