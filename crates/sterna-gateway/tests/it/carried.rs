//! Calls of older servers that keep an event store: the client carries them, and
//! any gateway with the same keys goes on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use sterna_client::{Client, Era, PausedCall, Step};
use sterna_gateway::{GatewayConfig, Survival, survey};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::input::InputResponses;
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::roots::Root;
use sterna_protocol::tool::CallToolResult;
use sterna_seal::ThreadEntropy;
use sterna_server::{Keyring, SharedKeyring};

use crate::resumable::{Events, Resumable};
use crate::{Running, text, until};

/// Keys for several gateways.
pub(crate) fn ring() -> Arc<SharedKeyring> {
    let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
    Arc::new(SharedKeyring::new(ring))
}

/// Gateways in front of one server, with one ring of keys.
struct Fleet {
    ring: Arc<SharedKeyring>,
    config: GatewayConfig,
}

impl Fleet {
    fn of(server: &Resumable) -> Self {
        Self {
            ring: ring(),
            config: GatewayConfig::new(vec![server.config.clone()]),
        }
    }

    async fn replica(&self) -> Running {
        let ring = Arc::clone(&self.ring);
        Running::with(self.config.clone(), |server| server.shared_keys(ring)).await
    }
}

pub(crate) async fn asked(gateway: &Running) -> PausedCall<CallToolResult> {
    let client = gateway.plain(Era::Modern).await;
    match client.call("greet").start().await.unwrap() {
        Step::InputRequired(paused) => paused,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn question(paused: &PausedCall<CallToolResult>) -> String {
    let (_, question) = paused.questions().iter().next().unwrap();
    serde_json::to_string(question).unwrap()
}

/// Answers the question, perhaps anew, and brings the call to a gateway.
pub(crate) fn answered(
    mut paused: PausedCall<CallToolResult>,
    name: &str,
    gateway: &Running,
) -> PausedCall<CallToolResult> {
    let questions = paused.questions().iter();
    let keys: Vec<_> = questions.map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        let content = ElicitContent::from_iter([("name", name)]);
        paused.answer(&key, ElicitResult::accept(content)).unwrap();
    }
    paused.dangerous_moved_to(&gateway.url)
}

pub(crate) async fn next(
    paused: &PausedCall<CallToolResult>,
    gateway: &Running,
) -> PausedCall<CallToolResult> {
    let client = gateway.plain(Era::Modern).await;
    match paused.resume(&client).await.unwrap() {
        Step::InputRequired(paused) => paused,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn done(paused: &PausedCall<CallToolResult>, gateway: &Running) -> String {
    let client = gateway.plain(Era::Modern).await;
    match paused.resume(&client).await.unwrap() {
        Step::Complete(result) => text(&result),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_goes_on_at_any_gateway_while_those_before_are_gone() {
    for events in [Events::Live, Events::Stored] {
        let server = Resumable::start("only", events).await;
        let fleet = Fleet::of(&server);
        let (one, two, three) = (
            fleet.replica().await,
            fleet.replica().await,
            fleet.replica().await,
        );
        let paused = asked(&one).await;
        one.gateway.close().await;
        drop(one);
        let paused = next(&answered(paused, "Ann", &two), &two).await;
        assert!(question(&paused).contains("Ann, really?"));
        two.gateway.close().await;
        drop(two);
        let paused = answered(paused, "Bob", &three);
        assert_eq!(done(&paused, &three).await, "Hello, Bob!", "{events:?}");
        assert_eq!((server.greeted(), server.cancelled()), (1, 0));
    }
}

#[tokio::test]
async fn the_same_retry_gets_the_same_response_until_the_session_ends() {
    let server = Resumable::start("only", Events::Live).await;
    let fleet = Fleet::of(&server);
    let (one, two) = (fleet.replica().await, fleet.replica().await);
    let first = answered(asked(&one).await, "Ann", &two);
    let second = next(&first, &two).await;
    let again = first.clone().dangerous_moved_to(&one.url);
    assert_eq!(question(&next(&again, &one).await), question(&second));
    let second = answered(second, "Bob", &two);
    for _ in 0..2 {
        assert_eq!(done(&second, &two).await, "Hello, Bob!");
    }
    // Another answer does not change what was done.
    let other = answered(second.clone(), "Cleo", &one);
    assert_eq!(done(&other, &one).await, "Hello, Bob!");
    assert_eq!(server.greeted(), 1);

    server.forget_sessions();
    let client = two.plain(Era::Modern).await;
    let gone = second.resume(&client).await.unwrap_err();
    let gone = gone.rpc().unwrap().clone();
    assert!(gone.message.contains("MR0910"), "{gone:?}");
    let expected = json!({"server": "only", "reason": "carried_call_gone", "outcome": "none"});
    assert_eq!(gone.data, Some(expected));
}

#[tokio::test]
async fn two_retries_at_once_have_one_effect() {
    let server = Resumable::start("only", Events::Live).await;
    let fleet = Fleet::of(&server);
    let (one, two) = (fleet.replica().await, fleet.replica().await);
    let first = answered(asked(&one).await, "Ann", &one);
    let second = answered(next(&first, &one).await, "Bob", &one);
    let elsewhere = second.clone().dangerous_moved_to(&two.url);
    let (here, there) = tokio::join!(done(&second, &one), done(&elsewhere, &two));
    assert_eq!((&*here, &*there), ("Hello, Bob!", "Hello, Bob!"));
    assert_eq!(server.greeted(), 1);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_and_not_sent() {
    let server = Resumable::start("only", Events::Live).await;
    let gateway = Fleet::of(&server).replica().await;
    let client: Client = gateway.plain(Era::Modern).await;
    let (questions, state) = asked(&gateway).await.into_parts();
    let (key, _) = questions.iter().next().unwrap();
    let mut wrong = JsonObject::new();
    let content = json!({"action": "accept", "content": {"name": 7}});
    wrong.insert(key, RawJson::from(content));
    let retry = client
        .call("greet")
        .as_retry(1, InputResponses::from(wrong), state);
    let Step::InputRequired(again) = retry.start().await.unwrap() else {
        panic!("the answer is no text");
    };
    assert!(question(&again).contains("Who are you?"));
    assert_eq!(server.resumed(), 0, "the server hears nothing of it");
    let first = answered(again, "Ann", &gateway);
    let second = answered(next(&first, &gateway).await, "Bob", &gateway);
    assert_eq!(done(&second, &gateway).await, "Hello, Bob!");
}

#[tokio::test]
async fn a_retry_that_is_dropped_cancels_nothing_and_comes_again() {
    let server = Resumable::start("only", Events::Live).await;
    let fleet = Fleet::of(&server);
    let (one, two) = (fleet.replica().await, fleet.replica().await);
    let paused = answered(asked(&one).await, "Ann", &one);
    {
        let client = one.plain(Era::Modern).await;
        let resumed = paused.resume(&client);
        let handle = resumed.handle();
        let mut resuming = Box::pin(resumed.into_future());
        let reached = || server.resumed() > 0;
        tokio::select! {
            biased;
            () = until("the stream is resumed", reached) => handle.cancel(),
            step = &mut resuming => drop(step),
        }
    }
    one.gateway.close().await;
    let second = next(&paused.dangerous_moved_to(&two.url), &two).await;
    let second = answered(second, "Bob", &two);
    assert_eq!(done(&second, &two).await, "Hello, Bob!");
    assert_eq!((server.greeted(), server.cancelled()), (1, 0));
}

#[tokio::test]
async fn a_server_that_is_away_leaves_the_call_for_the_same_retry() {
    let mut server = Resumable::start("only", Events::Live).await;
    let gateway = Fleet::of(&server).replica().await;
    let paused = answered(asked(&gateway).await, "Ann", &gateway);
    let client = gateway.plain(Era::Modern).await;
    server.stop().await;
    let error = paused.resume(&client).await.unwrap_err();
    let error = error.rpc().unwrap().clone();
    assert!(error.message.contains("MR0911"), "{error:?}");
    assert_eq!(error.data.unwrap()["outcome"], "unknown");
}

#[tokio::test]
async fn a_call_is_held_where_it_cannot_or_may_not_be_carried() {
    for (events, resume) in [(Events::None, true), (Events::Live, false)] {
        let mut server = Resumable::start("only", events).await;
        server.config.resume = resume;
        let fleet = Fleet::of(&server);
        let (one, two) = (fleet.replica().await, fleet.replica().await);
        let paused = answered(asked(&one).await, "Ann", &two);
        let client = two.plain(Era::Modern).await;
        let gone = paused.resume(&client).await.unwrap_err();
        let gone = gone.rpc().unwrap().clone();
        assert!(gone.message.contains("MR0902"), "{events:?}: {gone:?}");
        let second = next(&paused.dangerous_moved_to(&one.url), &one).await;
        let second = answered(second, "Bob", &one);
        assert_eq!(done(&second, &one).await, "Hello, Bob!");
        assert_eq!((server.greeted(), server.resumed()), (1, 0));
        let found = survey(&fleet.config).await.unwrap();
        assert_eq!(found[0].survival, Some(Survival::Held));
    }
}

#[tokio::test]
async fn a_survey_says_that_calls_are_carried() {
    let server = Resumable::start("only", Events::Stored).await;
    let found = survey(&Fleet::of(&server).config).await.unwrap();
    assert_eq!(found[0].era, Some("legacy"));
    assert_eq!(found[0].survival, Some(Survival::Carried));
}

#[tokio::test]
async fn the_call_of_an_old_client_stays_on_its_connection_and_ends_with_it() {
    let server = Resumable::start("only", Events::Live).await;
    let gateway = Fleet::of(&server).replica().await;
    let client = gateway.client(Era::Legacy).await;
    assert_eq!(text(&client.call("greet").await.unwrap()), "Hello, Ann!");
    assert_eq!((server.greeted(), server.resumed()), (1, 0));
}

#[tokio::test]
async fn any_number_of_carried_calls_need_one_session_and_no_place() {
    let server = Resumable::start("only", Events::Live).await;
    let gateway = Fleet::of(&server).replica().await;
    let mut last = None;
    // More than a caller may hold.
    for _ in 0..40 {
        last = Some(asked(&gateway).await);
    }
    // One for the lists that the gateway began with, one for this client's capabilities.
    assert_eq!(server.sessions(), 2);
    let second = next(&answered(last.unwrap(), "Ann", &gateway), &gateway).await;
    let second = answered(second, "Bob", &gateway);
    assert_eq!(done(&second, &gateway).await, "Hello, Bob!");
}

#[tokio::test]
async fn a_question_that_no_state_has_room_for_is_kept_by_its_gateway() {
    let server = Resumable::start("only", Events::Live).await;
    server.server.is_long.store(true, Ordering::SeqCst);
    let gateway = Fleet::of(&server).replica().await;
    let first = answered(asked(&gateway).await, "Ann", &gateway);
    let second = answered(next(&first, &gateway).await, "Bob", &gateway);
    assert_eq!(done(&second, &gateway).await, "Hello, Bob!");
    assert_eq!(server.greeted(), 1);
}

#[tokio::test]
async fn the_roots_that_a_server_asks_for_outside_of_calls_come_with_the_next_call() {
    let server = Resumable::start("only", Events::Live).await;
    server.server.asks_for_roots.store(true, Ordering::SeqCst);
    let gateway = Fleet::of(&server).replica().await;
    for era in [Era::Modern, Era::Legacy] {
        let before = server.roots().len();
        let builder = Client::builder(&gateway.url).era(era);
        let builder = builder.on_form(|_| async {
            let content = ElicitContent::from_iter([("name", "Ann")]);
            Ok(ElicitResult::accept(content))
        });
        let builder = builder.roots([Root::new(format!("file:///{era:?}"))]);
        let client = builder.connect().await.unwrap();
        // The question may come a moment after the first call.
        for _ in 0..20 {
            assert_eq!(text(&client.call("greet").await.unwrap()), "Hello, Ann!");
            if server.roots().len() > before {
                break;
            }
        }
        let told = server.roots().pop().unwrap();
        assert_eq!(told["roots"][0]["uri"], format!("file:///{era:?}"));
        // Sessions are those of the capabilities: another caller would get another one.
        gateway.gateway.close().await;
    }
}
