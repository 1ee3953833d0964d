use expect_test::expect;
use serde_json::json;

use crate::command::sterna;

#[test]
fn the_demo_shows_what_it_claims() {
    let ran = sterna("demo");
    expect![[r#"

        what was shown
          yes  a call goes on when the replica that asked is dead                         asked by B, taken up by C
          yes  a state that was altered is refused                                        Invalid or expired requestState
          yes  a state that is used for another work item is refused                      Invalid or expired requestState
          yes  a new build keeps the answers and asks again only what it words otherwise  asked for details~2
          yes  a finished step never runs again, on whichever replica                     looked up once, by replica B
          yes  a lost answer is asked for again, and the effect has happened once         done by C, told by A, refunded 1 time
          yes  the same round with other answers is refused                               Invalid or expired requestState
          yes  a token that was used is refused, where a tool says so                     Invalid or expired requestState
          yes  a task survives kill -9 of every process                                   rendered 1 time, published 1 time
        exit 0
    "#]]
    .assert_eq(&format!("{}exit {}\n", ran.stdout, ran.code));
    for round in [
        "round 1",
        "round 2",
        "round 3",
        "round 4",
        "killed replica",
        "upgraded",
        "was lost on the way",
        "kill -9 for all three",
    ] {
        assert!(ran.stderr.contains(round), "{round} is missing: {ran:?}");
    }
}

#[test]
fn the_demo_gives_json() {
    let claims = sterna("--json -q demo --auto").json();
    let claims = claims["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 9);
    assert!(
        claims.iter().all(|claim| claim["holds"] == json!(true)),
        "{claims:?}"
    );
}
