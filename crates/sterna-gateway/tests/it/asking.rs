//! Questions in the middle of a call, across eras and transports.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sterna_client::{Client, Era, PausedCall, Step};
use sterna_gateway::GatewayConfig;
use sterna_protocol::elicitation::{ElicitAction, ElicitContent, ElicitResult};
use sterna_protocol::tool::CallToolResult;
use sterna_seal::ThreadEntropy;
use sterna_server::{Keyring, SharedKeyring};

use crate::upstream::{http, process};
use crate::{BOTH, Running, text, until};

async fn asked(client: &Client) -> PausedCall<CallToolResult> {
    match client.call("greet").start().await.unwrap() {
        Step::InputRequired(paused) => paused,
        other => panic!("{other:?}"),
    }
}

/// Answers the questions that are open, whatever their keys are.
fn answer(paused: &mut PausedCall<CallToolResult>) {
    let keys: Vec<_> = paused.open().map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        let ann = ElicitContent::from_iter([("name", "Ann")]);
        paused.answer(&key, ElicitResult::accept(ann)).unwrap();
    }
}

#[tokio::test]
async fn a_form_reaches_clients_of_both_eras_from_servers_of_both() {
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        for (times, era) in BOTH.into_iter().enumerate() {
            let client = gateway.client(era).await;
            let result = client.call("greet").await.unwrap();
            assert_eq!(text(&result), "Hello, Ann!", "{upstream:?} behind {era:?}");
            assert_eq!(server.counts.greeted.load(Ordering::SeqCst), times + 1);
        }
    }
}

#[tokio::test]
async fn a_form_reaches_clients_of_both_eras_from_processes_of_both() {
    for upstream in BOTH {
        let gateway = Running::of([process("only", upstream)]).await;
        for era in BOTH {
            let client = gateway.client(era).await;
            let result = client.call("greet").await.unwrap();
            assert_eq!(text(&result), "Hello, Ann!", "{upstream:?} behind {era:?}");
        }
        gateway.gateway.close().await;
    }
}

#[tokio::test]
async fn a_call_of_an_old_server_is_held_while_its_client_is_away() {
    let server = http("only", Era::Legacy);
    let gateway = Running::of([server.config.clone()]).await;
    let client = gateway.plain(Era::Modern).await;
    let mut paused = asked(&client).await;
    // It goes through a file, and comes back over another connection.
    let stored = serde_json::to_string(&paused).unwrap();
    drop((client, paused));
    let client = gateway.plain(Era::Modern).await;
    paused = serde_json::from_str(&stored).unwrap();
    answer(&mut paused);
    let Step::InputRequired(mut again) = paused.resume(&client).await.unwrap() else {
        panic!("it asks twice");
    };
    let (_, question) = again.questions().iter().next().unwrap();
    let question = serde_json::to_string(question).unwrap();
    assert!(question.contains("Ann, really?"), "{question}");
    answer(&mut again);
    let Step::Complete(result) = again.resume(&client).await.unwrap() else {
        panic!("it asks no third time");
    };
    assert_eq!(text(&result), "Hello, Ann!");
    // The same answers again: the call is gone, and its effect came once.
    let gone = again.resume(&client).await.unwrap_err();
    let gone = gone.rpc().unwrap();
    assert!(gone.message.contains("MR0902"), "{gone:?}");
    assert_eq!(gone.data.as_ref().unwrap()["outcome"], "unknown");
    assert_eq!(server.counts.greeted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_of_a_modern_server_goes_on_at_another_gateway_with_the_same_keys() {
    let server = http("only", Era::Modern);
    let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
    let ring = Arc::new(SharedKeyring::new(ring));
    let config = || GatewayConfig::new(vec![server.config.clone()]);
    let one = Running::with(config(), |server| server.shared_keys(Arc::clone(&ring))).await;
    let other = Running::with(config(), |server| server.shared_keys(Arc::clone(&ring))).await;
    let mut paused = asked(&one.plain(Era::Modern).await).await;
    answer(&mut paused);
    let paused = paused.dangerous_moved_to(other.url.clone());
    drop(one);
    let client = other.client(Era::Modern).await;
    let result = paused.finish(&client).await.unwrap();
    assert_eq!(text(&result), "Hello, Ann!");
}

#[tokio::test]
async fn a_user_who_declines_ends_the_call_in_the_words_of_its_server() {
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        let client = gateway.plain(Era::Modern).await;
        let mut paused = asked(&client).await;
        let keys: Vec<_> = paused.open().map(|(key, _)| key.to_owned()).collect();
        let declined = ElicitResult::new(ElicitAction::Decline);
        paused.answer(&keys[0], declined).unwrap();
        let Step::Complete(result) = paused.resume(&client).await.unwrap() else {
            panic!("it asks again");
        };
        assert_eq!(text(&result), "The user declined.", "{upstream:?}");
    }
}

#[tokio::test]
async fn a_caller_holds_so_many_calls_and_no_more_until_their_time_is_over() {
    let server = http("only", Era::Legacy);
    let mut config = GatewayConfig::new(vec![server.config.clone()]);
    config.held_per_caller = 2;
    config.held_for = Duration::from_secs(1);
    let gateway = Running::with(config, |server| server).await;
    let client = gateway.plain(Era::Modern).await;
    let _two = (asked(&client).await, asked(&client).await);
    let refused = client.call("greet").start().await.unwrap_err();
    let refused = refused.rpc().unwrap();
    assert!(refused.message.contains("MR0903"), "{refused:?}");
    for _ in 0..100 {
        if client.call("greet").start().await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("held calls do not end");
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_what_it_lacks() {
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        let client = gateway.plain(Era::Modern).await;
        let refused = client.call("greet").await.unwrap_err();
        let lacks = refused.missing_capabilities();
        assert_eq!(lacks, ["elicitation"], "{upstream:?}: {refused}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_its_server() {
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        for (times, era) in BOTH.into_iter().enumerate() {
            let client = gateway.client(era).await;
            let call = client.call("wait");
            let handle = call.handle();
            let mut calling = tokio::task::JoinSet::new();
            calling.spawn(call.into_future());
            let waiting = || server.counts.waiting.load(Ordering::SeqCst) > times;
            until("the server has the call", waiting).await;
            handle.cancel();
            let dropped = || server.counts.dropped.load(Ordering::SeqCst) > times;
            until("the server has dropped the call", dropped).await;
        }
    }
}

#[tokio::test]
async fn progress_and_log_reach_the_client() {
    use std::sync::Mutex;

    use sterna_protocol::logging::LoggingLevel;
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        for era in BOTH {
            for client in [gateway.client(era).await, gateway.plain(era).await] {
                let heard = Arc::new(Mutex::new(Vec::new()));
                let (progress, log) = (Arc::clone(&heard), Arc::clone(&heard));
                let call = client
                    .call("count")
                    .on_progress(move |told| {
                        let done = told.progress.as_f64().to_string();
                        progress.lock().unwrap().push(done);
                    })
                    .on_log(LoggingLevel::Info, move |told| {
                        log.lock().unwrap().push(told.data.as_str().to_owned());
                    });
                assert_eq!(text(&call.await.unwrap()), "three");
                let heard = heard.lock().unwrap().join(" ");
                let expected = r#"1 2 3 "counted to three""#;
                assert_eq!(heard, expected, "{upstream:?} behind {era:?}");
            }
        }
    }
}
