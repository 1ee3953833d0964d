//! Rounds that are answered in part.

use serde_json::json;
use sterna_server::{AskError, Cx, Server};

use super::{Client, accept};

async fn three(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (a, b, c) = tokio::join!(
        cx.ask::<String>("a", "A?"),
        cx.ask::<String>("b", "B?"),
        cx.ask::<String>("c", "C?"),
    );
    Ok(format!("{} {} {}", a?, b?, c?))
}

#[tokio::test]
async fn one_answer_of_three_leaves_two_questions_open() {
    let client = Client::of(Server::new("partial", "1").tool("three", "Asks thrice", three));
    // It would fit every one of the three.
    let answer = |key: &str, text: &str| {
        let content = json!({"a": text, "b": text, "c": text});
        json!({key: accept(content)})
    };
    let rounds = [answer("b", "two"), answer("c", "three"), answer("a", "one")];
    let shown = client.play("three", json!({}), &rounds).await;
    assert_eq!(
        shown,
        "ask {a: A?, b: B?, c: C?} -> ask {a: A?, c: C?} -> ask {a: A?} -> one two three"
    );
}
