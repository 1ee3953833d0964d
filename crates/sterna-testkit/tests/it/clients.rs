//! Clients that do not behave.

use std::time::Duration;

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sterna_server::auth::Principal;
use sterna_server::{AskError, Cx};
use sterna_testkit::{Flow, Round};

#[derive(Deserialize, JsonSchema)]
struct Trip {
    number: u32,
}

async fn both(cx: Cx<'_>, trip: Trip) -> Result<String, AskError> {
    let (name, city) = tokio::join!(
        cx.ask::<String>("name", "Who?"),
        cx.ask::<String>("city", "Where?"),
    );
    let (name, city) = (name?, city?);
    let age: u8 = cx.ask("age", format!("How old, {name}?")).await?;
    Ok(format!("{}: {name}, {city}, {age}", trip.number))
}

fn flow() -> Flow {
    Flow::of(both)
        .args(json!({"number": 7}))
        .answer("name", "Ada")
        .answer("city", "London")
        .answer("age", 36)
}

/// The transcript of the flow, if round 2 is changed so.
async fn check(change: impl FnOnce(Round) -> Round, expected: Expect) {
    let transcript = flow().round(2, change).run().await.transcript();
    let at = transcript.find("round 2\n").expect("there is a round 2");
    expected.assert_eq(&transcript[at..]);
}

#[tokio::test]
async fn a_state_that_was_changed_is_refused_and_the_log_says_why() {
    check(Round::tampered, expect![[r#"
        round 2
          client    answers `city`: {"city":"London"}
          client    answers `name`: {"name":"Ada"}
          --------  one character of the state is changed
          log       a request state was refused, reason `unauthentic`
          server    error -32602 "Invalid or expired requestState" {"reason":"invalid_request_state"}
    "#]]).await;
}

#[tokio::test]
async fn a_client_that_comes_too_late_is_refused() {
    let hours = Duration::from_secs(2 * 3600);
    check(|round| round.late(hours), expect![[r#"
        round 2
          client    waits for 7200s
          client    answers `city`: {"city":"London"}
          client    answers `name`: {"name":"Ada"}
          log       a request state was refused, reason `expired`
          server    error -32602 "Invalid or expired requestState" {"reason":"invalid_request_state"}
    "#]]).await;
}

#[tokio::test]
async fn a_client_that_comes_in_time_is_served() {
    let run = flow()
        .round(2, |round| round.late(Duration::from_secs(3000)))
        .round(3, |round| round.late(Duration::from_secs(3000)))
        .run()
        .await;
    assert_eq!(run.text(), "7: Ada, London, 36");
}

#[tokio::test]
async fn a_client_that_answers_in_part_is_asked_for_the_rest() {
    check(
        |round| round.without("city"),
        expect![[r#"
        round 2
          client    answers `name`: {"name":"Ada"}
          server    asks `city`: "Where?" {city: string}
        round 3
          client    answers `city`: {"city":"London"}
          server    asks `age`: "How old, Ada?" {age: integer}
        round 4
          client    answers `age`: {"age":36}
          server    "7: Ada, London, 36"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn another_caller_is_refused() {
    let run = flow()
        .caller(Principal::named("kit", "ada"))
        .round(2, |round| round.by(Principal::named("kit", "eve")))
        .run()
        .await;
    assert!(run.text().starts_with("-32602 "), "{run}");
    assert!(run.transcript().contains("`other_principal`"), "{run}");
}

#[tokio::test]
async fn other_arguments_are_refused() {
    let change = |round: Round| round.with_args(json!({"number": 8}));
    let run = flow().round(2, change).run().await;
    assert!(run.text().starts_with("-32602 "), "{run}");
}

#[tokio::test]
async fn a_replica_with_other_keys_refuses() {
    check(Round::among_strangers, expect![[r#"
        round 2
          client    answers `city`: {"city":"London"}
          client    answers `name`: {"name":"Ada"}
          log       a request state was refused, reason `unknown_key`
          server    error -32602 "Invalid or expired requestState" {"reason":"invalid_request_state"}
    "#]]).await;
}

#[tokio::test]
async fn unsolicited_answers_are_ignored() {
    let eager = json!({"action": "accept", "content": {"age": 99}});
    let run = flow()
        .round(1, |round| round.volunteering("age", eager.clone()))
        .round(2, |round| round.volunteering("age", eager.clone()))
        .run()
        .await;
    assert_eq!(run.text(), "7: Ada, London, 36");
}

#[tokio::test]
async fn a_client_that_lies_about_what_it_can_is_asked_nothing() {
    let run = flow()
        .round(2, |round| round.declaring(json!({})))
        .run()
        .await;
    assert!(run.text().starts_with("-32021 "), "{run}");
}

#[tokio::test]
async fn a_client_that_never_comes_back_leaves_nothing_behind() {
    check(
        Round::never,
        expect![[r#"
        round 2
          client    never comes
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_request_sent_twice_and_a_lost_response_change_nothing() {
    for change in [Round::twice, Round::lost] {
        let run = flow().round(2, change).run().await;
        assert_eq!(run.text(), "7: Ada, London, 36");
    }
}

#[tokio::test]
async fn an_earlier_round_can_be_sent_again() {
    let run = flow()
        .answer("age", 37)
        .round(3, |round| round.replaying(2))
        .run()
        .await;
    assert_eq!(run.text(), "7: Ada, London, 37");
    assert_eq!(run.rounds(), 4);
}
