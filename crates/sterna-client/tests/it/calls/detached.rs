//! Calls of servers with sessions that pause as plain data.

use std::time::Duration;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};
use sterna_client::{CallOptions, Client, ErrorKind, LostOutcome, PausedCall, Step};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::roots::ListRootsResult;
use sterna_protocol::tool::CallToolResult;

use super::event_store::{EventStore, Replays, Store, ask, builder, done, withdrawn};
use super::rounds::text;
use crate::errand::{errand, send};

/// Starts the call, up to its first question.
pub(super) async fn started(client: &Client) -> PausedCall<CallToolResult> {
    let call = client.call("greet").arg("title", "Dr");
    match call.start().await.unwrap() {
        Step::InputRequired(paused) => paused,
        other => panic!("{other:?}"),
    }
}

/// The call as another process reads it.
fn moved(paused: &PausedCall<CallToolResult>) -> PausedCall<CallToolResult> {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

/// Fills in every form with its own name.
pub(super) fn answer(paused: &mut PausedCall<CallToolResult>) {
    let open: Vec<_> = paused.open().map(|(key, _)| key.to_owned()).collect();
    for key in open {
        let field = key.split('#').next().unwrap();
        let content = ElicitContent::from_iter([(field, format!("my {field}"))]);
        match key.as_str() {
            "roots" => paused.answer(&key, ListRootsResult::new(Vec::new())),
            _ => paused.answer(&key, ElicitResult::accept(content)),
        }
        .unwrap();
    }
}

/// A client that has never seen the session.
async fn stranger(paused: &PausedCall<CallToolResult>) -> Client {
    paused.connect(builder(paused.server())).await.unwrap()
}

fn completed(step: Step<CallToolResult>) -> String {
    match step {
        Step::Complete(result) => text(&result).to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_detached_call_goes_on_with_a_client_that_never_saw_the_session() {
    let server = EventStore::start(Store::default()).await;
    let paused = {
        let client = server.client().await;
        let paused = started(&client).await;
        client.close().await;
        paused
    };
    assert!(paused.is_detached() && paused.held().is_none());
    assert!(
        server.seen("DELETE", None).is_empty(),
        "the session is needed"
    );
    let mut paused = moved(&paused);
    answer(&mut paused);
    let before = server.seen("POST", None).len();
    let client = stranger(&paused).await;
    assert_eq!(
        server.seen("POST", None).len(),
        before,
        "nothing is sent to connect"
    );
    assert_eq!(completed(paused.resume(&client).await.unwrap()), "hello");
    // Its own requests go to that session, under ids that no other client has.
    client.prompt("p").await.unwrap();
    let prompt = server.seen("POST", Some("prompts/get")).pop().unwrap();
    assert_eq!(prompt.session.as_deref(), Some("session one"));
    assert!(prompt.body["id"].as_i64().unwrap() > 1000);
    client.close().await;

    assert_eq!(server.seen("POST", Some("initialize")).len(), 1);
    assert_eq!(server.seen("POST", Some("tools/call")).len(), 1);
    assert_eq!(server.cancellations(), 0);
    assert!(server.seen("DELETE", None).is_empty());
    let answers = server.answers();
    assert_eq!(answers.len(), 1);
    expect![[
        r#"{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{"name":"my name"}}}"#
    ]]
    .assert_eq(&answers[0].to_string());
    for seen in server.seen("GET", None) {
        if seen.event.is_some() {
            assert_eq!(seen.session.as_deref(), Some("session one"));
            assert_eq!(seen.cookie.as_deref(), Some("route=seven"));
        }
    }
}

#[tokio::test]
async fn a_session_is_taken_to_no_other_server_unless_the_caller_says_so() {
    let (server, other) = tokio::join!(
        EventStore::start(Store::default()),
        EventStore::start(Store::default())
    );
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    let error = paused.connect(builder(&other.url)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    let error = paused.resume(&other.client().await).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert!(
        other
            .seen("GET", None)
            .iter()
            .all(|seen| seen.event.is_none())
    );

    let name = server.url.replace("127.0.0.1", "localhost");
    let moved = paused.dangerous_moved_to(&name);
    let client = moved.connect(builder(&name)).await.unwrap();
    assert_eq!(completed(moved.resume(&client).await.unwrap()), "hello");
}

#[tokio::test]
async fn a_stored_session_call_has_a_fixed_form() {
    let server = EventStore::start(Store::default()).await;
    let paused = started(&server.client().await).await;
    let call = &server.seen("POST", Some("tools/call"))[0].body["id"];
    assert!(call.as_i64().unwrap() > 1000, "no other session has it");
    let stored = serde_json::to_string(&paused)
        .unwrap()
        .replace(&server.url, "URL")
        .replace(&call.to_string(), "2");
    expect![[r#"{"sternaPausedCall":1,"server":"URL","request":{"method":"tools/call","name":"greet","arguments":"{\"title\":\"Dr\"}"},"capabilities":{"elicitation":{"form":{},"url":{}},"roots":{}},"rounds":0,"questions":{"name":{"method":"elicitation/create","params":{"message":"What is the name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}},"answers":{},"session":{"id":"session one","version":"2025-11-25","cookies":"route=seven","event":"e0","call":2,"questions":{"name":0}}}"#]]
        .assert_eq(&stored);
    let shown = format!("{paused:?}");
    assert!(
        !shown.contains("session one") && !shown.contains("route"),
        "{shown}"
    );

    let small = serde_json::to_string(&paused.without_arguments()).unwrap();
    assert!(!small.contains("title"), "{small}");

    for (from, to) in [
        ("\"e0\"", "\"\\n\""),
        ("{\"name\":0}", "{\"other\":0}"),
        ("session one", "\\u0000"),
    ] {
        let broken = stored.replace(from, to);
        let error = serde_json::from_str::<PausedCall<CallToolResult>>(&broken).unwrap_err();
        expect!["the place of the call in its session cannot be read"]
            .assert_eq(&error.to_string());
    }
}

#[tokio::test]
async fn a_detached_call_is_resumed_without_its_arguments() {
    let server = EventStore::start(Store::default()).await;
    let mut paused = started(&server.client().await).await.without_arguments();
    answer(&mut paused);
    let client = stranger(&paused).await;
    assert_eq!(completed(paused.resume(&client).await.unwrap()), "hello");
}

#[tokio::test]
async fn a_server_that_sends_results_to_the_next_connection_only_is_polled() {
    let server = EventStore::start(Store {
        live: false,
        ..Store::default()
    })
    .await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    let client = stranger(&paused).await;
    assert_eq!(completed(paused.resume(&client).await.unwrap()), "hello");
    let polls = server.seen("GET", None);
    let polls: Vec<_> = polls.into_iter().filter_map(|seen| seen.event).collect();
    assert_eq!(polls, ["e0", "e1"]);
}

#[tokio::test]
async fn questions_that_are_asked_together_pause_together_and_the_next_ones_again() {
    let roots = json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"});
    let server = EventStore::start(Store {
        steps: vec![
            vec![ask(0, "name"), ask(1, "name"), roots],
            vec![],
            vec![],
            vec![ask(3, "colour")],
            vec![done("all four")],
        ],
        ..Store::default()
    })
    .await;
    let mut paused = started(&server.client().await).await;
    let open: Vec<_> = paused.questions().iter().map(|(key, _)| key).collect();
    assert_eq!(open, ["name", "name#2", "roots"]);
    answer(&mut paused);
    let client = stranger(&paused).await;
    let step = paused.resume(&client).await.unwrap();
    let Step::InputRequired(next) = step else {
        panic!("{step:?}");
    };
    assert_eq!((next.rounds(), next.is_detached()), (1, true));
    let mut next = moved(&next);
    answer(&mut next);
    let client = stranger(&next).await;
    assert_eq!(completed(next.resume(&client).await.unwrap()), "all four");
    let ids: Vec<_> = server
        .answers()
        .iter()
        .map(|seen| seen["id"].clone())
        .collect();
    assert_eq!(ids, [json!(0), json!(1), json!("r"), json!(3)]);
}

#[tokio::test]
async fn handlers_can_finish_a_detached_call() {
    let server = EventStore::start(Store {
        steps: vec![
            vec![ask(0, "name")],
            vec![ask(1, "colour")],
            vec![done("both")],
        ],
        ..Store::default()
    })
    .await;
    let paused = started(&server.client().await).await;
    let prepared = super::real::prepared(builder(&server.url));
    let client = paused.connect(prepared).await.unwrap();
    let result = paused.finish(&client).await.unwrap();
    assert_eq!(text(&result), "both");
}

#[tokio::test]
async fn the_same_answers_again_bring_the_same_result() {
    let server = EventStore::start(Store::default()).await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    for _ in 0..3 {
        let client = stranger(&paused).await;
        assert_eq!(completed(paused.resume(&client).await.unwrap()), "hello");
    }
    assert_eq!(server.answers().len(), 1, "the result was there");
}

#[tokio::test]
async fn a_result_that_is_there_already_is_the_result() {
    let server = EventStore::start(Store::default()).await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    // The server gave its question up and went on.
    server.push(&[withdrawn(0), done("without you")]);
    let client = stranger(&paused).await;
    assert_eq!(
        completed(paused.resume(&client).await.unwrap()),
        "without you"
    );
    assert!(server.answers().is_empty());
}

#[tokio::test]
async fn no_answer_is_sent_to_a_question_that_was_given_up() {
    let server = EventStore::start(Store::default()).await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    server.push(&[withdrawn(0), ask(1, "colour")]);
    let client = stranger(&paused).await;
    let step = paused.resume(&client).await.unwrap();
    let Step::InputRequired(next) = step else {
        panic!("{step:?}");
    };
    let open: Vec<_> = next.open().map(|(key, _)| key).collect();
    assert_eq!(open, ["colour"]);
    assert!(server.answers().is_empty());
}

#[tokio::test]
async fn a_lost_call_says_what_was_lost_and_no_answer_is_sent() {
    let server = EventStore::start(Store::default()).await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    let client = stranger(&paused).await;

    server.forget_events();
    let options = CallOptions::new().timeout(Duration::from_secs(2));
    let error = paused.resume(&client).options(options).await.unwrap_err();
    expect!["the paused call is lost: the server does not replay its question; no answer was sent (MR0518)"]
        .assert_eq(&error.to_string());
    assert_eq!(
        (error.kind(), error.lost()),
        (ErrorKind::Lost, Some(LostOutcome::None))
    );

    server.end_sessions();
    let error = paused.resume(&client).await.unwrap_err();
    expect!["the paused call is lost: the server does not have its session any more (HTTP status 404); no answer was sent (MR0518)"]
        .assert_eq(&error.to_string());
    assert_eq!(error.lost(), Some(LostOutcome::None));
    assert!(server.answers().is_empty());
    assert_eq!(
        server.seen("POST", Some("initialize")).len(),
        1,
        "no other session"
    );
}

#[tokio::test]
async fn a_question_that_has_changed_is_not_answered() {
    let server = EventStore::start(Store::default()).await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    let stored = serde_json::to_string(&paused).unwrap();
    let other = stored.replace("What is the name?", "What is the plan?");
    let paused: PausedCall<CallToolResult> = serde_json::from_str(&other).unwrap();
    let client = stranger(&paused).await;
    let error = paused.resume(&client).await.unwrap_err();
    expect!["the paused call is lost: the server now asks something else as `name`; no answer was sent (MR0518)"]
        .assert_eq(&error.to_string());
    assert!(server.answers().is_empty());
}

#[tokio::test]
async fn a_session_that_ends_after_the_answer_leaves_the_outcome_unknown() {
    let server = EventStore::start(Store {
        steps: vec![vec![ask(0, "name")], vec![]],
        live: false,
        ..Store::default()
    })
    .await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    let client = stranger(&paused).await;
    let resumed = tokio::join!(paused.resume(&client).into_future(), async {
        while server.answers().is_empty() {
            tokio::task::yield_now().await;
        }
        server.end_sessions();
    });
    let error = resumed.0.unwrap_err();
    assert_eq!(error.lost(), Some(LostOutcome::Unknown), "{error}");
}

#[tokio::test]
async fn a_detached_call_is_never_cancelled_by_a_drop_but_by_word() {
    let server = EventStore::start(Store {
        steps: vec![vec![ask(0, "name")], vec![]],
        ..Store::default()
    })
    .await;
    let client = server.client().await;
    let mut paused = started(&client).await;
    drop(moved(&paused));
    answer(&mut paused);
    let mut resumed = paused.resume(&client).into_future();
    while server.answers().is_empty() {
        let waiting = tokio::time::timeout(Duration::from_millis(20), &mut resumed);
        assert!(waiting.await.is_err(), "the tool has not ended");
    }
    drop(resumed);
    // A cancellation would have been sent before this.
    client.prompt("another").await.unwrap();
    assert_eq!(server.cancellations(), 0);

    let resumed = paused.resume(&client);
    let handle = resumed.handle();
    let (ended, ()) = tokio::join!(resumed.into_future(), async { handle.cancel() });
    assert_eq!(ended.unwrap_err().code(), "MR0514");
    assert_eq!(server.cancellations(), 1);
    paused.cancel(&client).await.unwrap();
    assert_eq!(server.cancellations(), 2);
}

#[tokio::test]
async fn a_question_that_the_session_did_not_declare_is_refused() {
    let sample = json!({"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage",
        "params": {"messages": [], "maxTokens": 10}});
    let server = EventStore::start(Store {
        steps: vec![vec![sample, ask(0, "name")], vec![done("hello")]],
        ..Store::default()
    })
    .await;
    let paused = started(&server.client().await).await;
    let open: Vec<_> = paused.open().map(|(key, _)| key).collect();
    assert_eq!(open, ["name"]);
    let refused = server.seen("POST", None);
    let refused = refused.iter().find(|seen| seen.body.get("error").is_some());
    assert_eq!(refused.unwrap().body["error"]["code"], -32601);
}

#[tokio::test]
async fn a_detached_call_survives_the_kill_of_its_process() {
    if let Some(errand) = errand() {
        let server = errand.as_str();
        let client = builder(server).connect().await.unwrap();
        let paused = started(&client).await;
        println!("PAUSED {}", serde_json::to_string(&paused).unwrap());
        // No destructor runs.
        std::process::abort();
    }
    let server = EventStore::start(Store::default()).await;
    let test = "calls::detached::a_detached_call_survives_the_kill_of_its_process";
    let printed = crate::errand::aborted(test, &server.url).await;
    let stored = printed.lines().find_map(|line| line.split_once("PAUSED "));
    let mut paused: PausedCall<CallToolResult> = serde_json::from_str(stored.unwrap().1).unwrap();
    answer(&mut paused);
    let client = stranger(&paused).await;
    assert_eq!(completed(paused.resume(&client).await.unwrap()), "hello");
    assert_eq!(server.seen("POST", Some("tools/call")).len(), 1);
    assert_eq!(server.answers().len(), 1);
    assert_eq!(server.cancellations(), 0);
}

#[tokio::test]
async fn a_server_that_floods_a_replay_is_left() {
    let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": 2, "progress": 1}});
    let server = EventStore::start(Store {
        replays: Replays::All,
        ..Store::default()
    })
    .await;
    let mut paused = started(&server.client().await).await;
    answer(&mut paused);
    let flooding = server.clone();
    let options = CallOptions::new().timeout(Duration::from_secs(2));
    // The question has another id than the one that is replayed.
    let stored = serde_json::to_string(&paused).unwrap();
    let stored = stored.replace(r#""questions":{"name":0}"#, r#""questions":{"name":7}"#);
    let paused: PausedCall<CallToolResult> = serde_json::from_str(&stored).unwrap();
    let client = stranger(&paused).await;
    let resumed = paused.resume(&client).options(options).into_future();
    let (resumed, ()) = tokio::join!(resumed, async {
        for _ in 0..100 {
            flooding.push(&vec![progress.clone(); 200]);
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(resumed.unwrap_err().lost(), Some(LostOutcome::None));
    assert!(server.answers().is_empty());
}

/// A tool that asks in rounds, its server, and where processes are changed.
fn programs() -> impl Strategy<Value = (Store, Vec<bool>)> {
    let replays = prop_oneof![
        Just(Replays::After),
        Just(Replays::From),
        Just(Replays::All)
    ];
    let rounds = prop::collection::vec(1..4_u64, 1..4);
    let moves = prop::collection::vec(any::<bool>(), 4);
    // Without later events a round takes the second after which a stream counts as silent.
    let live = prop::bool::weighted(0.9);
    (rounds, replays, live, 1..200_usize, moves).prop_map(
        |(rounds, replays, live, chunk, moves)| {
            let mut steps = vec![Vec::new()];
            let mut id = 0;
            for count in rounds {
                for _ in 0..count {
                    let at = steps.len() - 1;
                    steps[at].push(ask(id, &format!("q{id}")));
                    id += 1;
                }
                steps.extend(std::iter::repeat_n(
                    Vec::new(),
                    usize::try_from(count).unwrap(),
                ));
            }
            steps.last_mut().unwrap().push(done("the end"));
            let store = Store {
                steps,
                ids: true,
                live,
                replays,
                chunk,
            };
            (store, moves)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_question_is_answered_once_however_events_are_split_and_replayed(
        (store, moves) in programs()
    ) {
        let questions: usize = store.steps.iter().flatten().filter(|event| event["method"] == "elicitation/create").count();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = EventStore::start(store).await;
            let mut client = server.client().await;
            let mut paused = started(&client).await;
            let mut moves = moves.into_iter().cycle();
            loop {
                assert!(paused.is_detached());
                answer(&mut paused);
                if moves.next().unwrap() {
                    paused = moved(&paused);
                    client = stranger(&paused).await;
                }
                match paused.resume(&client).await.unwrap() {
                    Step::Complete(result) => {
                        assert_eq!(text(&result), "the end");
                        break;
                    }
                    Step::InputRequired(next) => paused = next,
                    other => panic!("{other:?}"),
                }
            }
            let ids: Vec<_> = server.answers().iter().map(|seen| seen["id"].as_u64().unwrap()).collect();
            let expected: Vec<_> = (0..u64::try_from(questions).unwrap()).collect();
            assert_eq!(ids, expected);
            assert_eq!(server.seen("POST", Some("tools/call")).len(), 1);
            assert_eq!(server.cancellations(), 0);
        });
    }
}

#[tokio::test]
async fn another_process_finishes_what_this_one_started() {
    if let Some(errand) = errand() {
        let mut paused: PausedCall<CallToolResult> = serde_json::from_str(&errand).unwrap();
        answer(&mut paused);
        let client = stranger(&paused).await;
        assert_eq!(completed(paused.resume(&client).await.unwrap()), "hello");
        return;
    }
    let server = EventStore::start(Store::default()).await;
    let paused = started(&server.client().await).await;
    let stored = serde_json::to_string(&paused).unwrap();
    let test = "calls::detached::another_process_finishes_what_this_one_started";
    send(test, &stored, &[]).await;
    assert_eq!(server.answers().len(), 1);
}

/// Stored calls of releases before this one are read as they were.
#[test]
fn a_call_that_was_stored_without_a_session_is_still_read() {
    let stored: Value = json!({"sternaPausedCall": 1, "server": "https://a.example/mcp",
        "request": {"method": "tools/call", "name": "t", "arguments": "{}"},
        "capabilities": {}, "rounds": 2, "questions": {}, "answers": {}, "state": "x"});
    let paused: PausedCall<CallToolResult> = serde_json::from_value(stored.clone()).unwrap();
    assert!(paused.is_detached());
    assert_eq!(serde_json::to_value(&paused).unwrap(), stored);
}
