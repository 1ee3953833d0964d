//! A caller is told of changes of what it may read, and of nothing else.

use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_server::auth::{Gate, ScopePolicy, Scopes, StaticTokens};
use sterna_server::{Cx, Server, Uri};

use super::tasks::Fleet;
use super::{Client, subscriptions};
use crate::legacy::{Session, next};

async fn read(_: Cx<'_>, uri: Uri) -> String {
    uri.to_string()
}

#[derive(Deserialize, JsonSchema)]
struct Id {
    id: String,
}

async fn read_one(_: Cx<'_>, args: Id) -> String {
    args.id
}

async fn touch(cx: Cx<'_>, (): ()) {
    for uri in ["rt://secret", "vault://7", "rt://open"] {
        cx.request().changes().resource(uri);
    }
}

/// Alice may read all, Bob the open resource, and Alice's second token as much
/// as Bob's.
fn server(method: &'static str) -> Server {
    let policy = ScopePolicy::default().for_calls(move |asked, name| match name {
        Some(name) if asked == method && !name.contains("open") => Scopes::parse("secrets"),
        _ => Scopes::none(),
    });
    let tokens = "alice-0123456789 alice secrets\nbob-0123456789 bob\nnarrow-0123456789 alice\n";
    let tokens = StaticTokens::parse(tokens).unwrap();
    Server::new("guarded", "1")
        .gate(Gate::guarded(tokens).with_scopes(policy))
        .tool("touch", "", touch)
        .resource("rt://secret", "secret", read)
        .resource("rt://open", "open", read)
        .resource_template("vault://{id}", "vault", read_one)
}

const ALL: [&str; 3] = ["rt://secret", "vault://7", "rt://open"];

async fn listen(client: &Client) -> (Value, Vec<Value>) {
    let filter = json!({"notifications": {"resourceSubscriptions": ALL}});
    let mut stream = client.open("subscriptions/listen", filter).await;
    let first = subscriptions::next(&mut stream).await;
    let agreed = first["params"]["notifications"]["resourceSubscriptions"].clone();
    client.call_tool("touch", json!({})).await;
    let mut told = Vec::new();
    while told.last() != Some(&json!("rt://open")) {
        let event = subscriptions::next(&mut stream).await;
        told.push(event["params"]["uri"].clone());
    }
    (agreed, told)
}

#[tokio::test]
async fn a_listener_is_not_told_of_resources_that_it_may_not_read() {
    let client = Client::of(server("resources/read"));
    let alice = client.with_token("alice-0123456789");
    let all: Vec<_> = ALL.map(Value::from).into();
    assert_eq!(listen(&alice).await, (json!(ALL), all));
    let bob = client.with_token("bob-0123456789");
    let open = vec![json!("rt://open")];
    assert_eq!(listen(&bob).await, (json!(["rt://open"]), open));
}

#[tokio::test]
async fn a_session_may_not_subscribe_to_resources_that_its_caller_may_not_read() {
    for method in ["resources/read", "resources/subscribe"] {
        let none = Session::none(server(method)).with_token("bob-0123456789");
        let bob = none.open("2025-11-25", json!({})).await;
        for uri in ["rt://secret", "vault://7"] {
            let reply = bob.send("resources/subscribe", json!({"uri": uri})).await;
            assert_eq!(reply.status, 403, "{method} {uri}");
        }
        let open = bob.send("resources/subscribe", json!({"uri": "rt://open"}));
        assert_eq!(open.await.status, 200);
    }
}

#[tokio::test]
async fn a_session_is_told_as_much_as_the_token_of_its_stream_may_read() {
    let none = Session::none(server("resources/read"));
    let wide = none.with_token("alice-0123456789");
    let wide = wide.open("2025-11-25", json!({})).await;
    for uri in ALL {
        let reply = wide.send("resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(reply.status, 200, "{uri}");
    }
    let mut stream = wide.with_token("narrow-0123456789").listen().await;
    wide.send("tools/call", json!({"name": "touch"})).await;
    assert_eq!(next(&mut stream).await["params"]["uri"], "rt://open");
    let mut stream = wide.listen().await;
    wide.send("tools/call", json!({"name": "touch"})).await;
    for uri in ALL {
        assert_eq!(next(&mut stream).await["params"]["uri"], uri);
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_is_not_told_of_tasks_that_it_may_not_get() {
    async fn task(_: Cx<'_>, (): ()) -> &'static str {
        "done"
    }
    let tokens = "alice-0123456789 alice\nbob-0123456789 bob tasks\neve-0123456789 alice tasks\n";
    let policy = ScopePolicy::default().for_calls(|method, _| match method {
        "tasks/get" => Scopes::parse("tasks"),
        _ => Scopes::none(),
    });
    let server = Server::new("tasks", "1")
        .gate(Gate::guarded(StaticTokens::parse(tokens).unwrap()).with_scopes(policy))
        .offer(sterna_server::Tool::new("task", "", task).task(sterna_server::TaskMode::Always));
    let client = Fleet::new().front(server);
    let alice = client.with_token("alice-0123456789");
    let id = alice.begin("task", json!({})).await;
    for (token, agreed) in [
        ("alice-0123456789", json!([])),
        ("bob-0123456789", json!([])),
        ("eve-0123456789", json!([id])),
    ] {
        let filter = json!({"notifications": {"taskIds": [id]}});
        let listener = client.with_token(token);
        let mut stream = listener.open("subscriptions/listen", filter).await;
        let first = stream.body_mut().frame().await.unwrap().unwrap();
        let first = first.into_data().unwrap();
        let first = std::str::from_utf8(&first).unwrap().trim();
        let first: Value = serde_json::from_str(first.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(
            first["params"]["notifications"]["taskIds"], agreed,
            "{token}"
        );
    }
}
