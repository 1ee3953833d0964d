//! Rules of the protocol that no other test is about.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Change, Client, Command, ErrorKind};
use sterna_protocol::subscription::SubscriptionFilter;

use super::lines::{connected_to, in_session};
use super::rounds::text;
use super::scripted::{Said, Scripted, discovered, done};
use super::stdio::{OK, shell};
use crate::logged::Logged;
use crate::world::World;

#[tokio::test]
async fn codes_that_a_server_made_up_mean_nothing_but_no() {
    for code in [-32000, -32001, -32010, -32019, 7] {
        let error = json!({"code": code, "message": "no"});
        let server = Scripted::start(move |_, _| Said::Error(error.clone())).await;
        let client = Client::connect(&server.url).await.unwrap();
        let error = client.call("t").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{code}");
        assert_eq!(error.rpc().unwrap().code.0, code);
        assert_eq!(
            server.seen("tools/call").len(),
            1,
            "{code} leads to nothing"
        );
        assert!(!error.is_resource_not_found());
    }
}

#[tokio::test]
async fn a_missing_resource_is_one_in_the_words_of_every_revision() {
    for code in [-32602, -32002] {
        let error = json!({"code": code, "message": "Resource not found"});
        let server = Scripted::start(move |_, _| Said::Error(error.clone())).await;
        let client = Client::connect(&server.url).await.unwrap();
        let error = client.read("a://b").await.unwrap_err();
        assert!(error.is_resource_not_found(), "{code}");
    }
}

#[tokio::test]
async fn notifications_are_never_answered_whatever_they_are() {
    let (_client, mut far) = in_session(json!({}), |builder| builder.roots([])).await;
    for note in [
        json!({"jsonrpc": "2.0", "method": "notifications/unheard_of"}),
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": 7}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}),
        json!({"jsonrpc": "2.0", "method": "roots/list"}),
    ] {
        far.say(note).await;
    }
    far.say(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        .await;
    let next = far.read().await;
    assert_eq!(next, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
}

#[tokio::test]
async fn a_question_that_the_server_takes_back_is_not_answered() {
    let (logged, _guard) = Logged::start();
    let (asked, mut open) = tokio::sync::mpsc::channel(2);
    let (_client, mut far) = in_session(json!({}), |builder| {
        builder.on_roots(move |_| {
            let asked = asked.clone();
            async move {
                asked.send(()).await.unwrap();
                std::future::pending().await
            }
        })
    })
    .await;
    let cancel = |id: &str, reason: &str| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id, "reason": reason}})
    };
    // Unknown, so that it takes nothing back.
    far.say(cancel("q-2", "never asked")).await;
    far.say(json!({"jsonrpc": "2.0", "id": "q-1", "method": "roots/list"}))
        .await;
    open.recv().await.unwrap();
    far.say(cancel("q-1", "never\u{7} mind")).await;
    // The handler, and with it its end of the channel, goes with the question.
    far.say(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
        .await;
    assert_eq!(far.read().await["id"], "p");
    expect![[r#"
        [
            "DEBUG message=the server takes a question back reason=\"never asked\"",
            "DEBUG message=the server takes a question back reason=\"never� mind\"",
        ]"#]]
    .assert_eq(&format!("{:#?}", logged.lines("takes a question back")));
}

#[tokio::test]
async fn over_stdio_no_authorization_is_sought() {
    let world = World::start().await;
    let client = Client::builder(shell(OK)).auth(world.user());
    let client = client.connect().await.unwrap();
    assert_eq!(text(&client.call("t").await.unwrap()), "ok");
    world.log.check(expect![""]);
}

#[tokio::test]
async fn an_extension_that_the_server_does_not_declare_is_not_used() {
    let mut both = discovered();
    both["capabilities"]["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    for (hello, declared) in [
        (discovered(), Value::Null),
        (both, json!({"io.modelcontextprotocol/tasks": {}})),
    ] {
        let (client, mut far) = connected_to(hello, |builder| builder).await;
        let (ended, ()) = tokio::join!(client.call("t").task(None).into_future(), async {
            let call = far.read().await;
            assert_eq!(call["params"]["task"], Value::Null);
            let meta = &call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(meta["extensions"], declared);
            far.result(&call, done("ok")).await;
        });
        assert_eq!(text(&ended.unwrap()), "ok");
    }
}

/// A child that tells on standard error what it reads.
fn recorded() -> (Command, Arc<Mutex<Vec<String>>>) {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = lines.clone();
    let command = shell(&format!(r#"printf 'in %s\n' "$line" >&2; {OK}"#));
    let command = command.on_stderr(move |line| {
        if let Some(line) = line.strip_prefix("in ") {
            sink.lock().unwrap().push(line.to_owned());
        }
    });
    (command, lines)
}

#[tokio::test]
async fn a_child_reads_messages_and_nothing_else() {
    let (command, lines) = recorded();
    let client = Client::connect(command).await.unwrap();
    let odd = "a\r\nb\u{2028}\u{0}";
    client.call("t").arg("odd", odd).await.unwrap();
    client.call("u").await.unwrap();
    client.close().await;
    let lines = lines.lock().unwrap().clone();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
    }
}

#[tokio::test]
async fn a_tool_that_is_left_out_and_a_call_that_is_made_are_logged_without_arguments() {
    let (logged, _guard) = Logged::start();
    let server = Scripted::start(|seen, _| match seen.body["method"].as_str() {
        Some("tools/list") => {
            let schema = json!({"type": "object", "properties": {"a": {"type": "string",
                "x-mcp-header": "not a name"}}});
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [{"name": "bad\ntool", "inputSchema": schema}]})
        }
        _ => done("ok"),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    assert!(client.tools().all().await.unwrap().is_empty());
    let call = client.call("pay").arg("card", "4111");
    call.meta("com.example/secret", "s").await.unwrap();
    expect![[r#"
        [
            "WARN message=tool left out: its x-mcp-header is invalid tool=\"bad�tool\" reason=\"not a name\" at `/properties/a` is not a valid header name",
        ]"#]]
    .assert_eq(&format!("{:#?}", logged.lines("tool left out")));
    expect![[r#"
        [
            "DEBUG message=call method=\"tools/call\" name=\"pay\" round=0",
        ]"#]]
    .assert_eq(&format!("{:#?}", logged.lines("message=call ")));
    assert!(logged.lines("4111").is_empty());
}

#[tokio::test]
async fn tools_that_differ_in_case_are_two() {
    let server = Scripted::start(|seen, _| match seen.body["method"].as_str() {
        Some("tools/list") => {
            let tool = |name: &str, header: &str| {
                json!({"name": name, "inputSchema": {"type": "object", "properties":
                    {"p": {"type": "string", "x-mcp-header": header}}}})
            };
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [tool("Get", "Upper"), tool("get", "Lower")]})
        }
        _ => done("ok"),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    assert_eq!(client.tools().all().await.unwrap().len(), 2);
    for name in ["get", "Get"] {
        client.call(name).arg("p", "x").await.unwrap();
    }
    let seen = server.seen("tools/call");
    let shown: Vec<_> = seen
        .iter()
        .map(|seen| {
            let headers = ["mcp-name", "mcp-param-lower", "mcp-param-upper"];
            headers.map(|name| seen.header(name).unwrap_or("-").to_owned())
        })
        .collect();
    assert_eq!(shown, [["get", "x", "-"], ["Get", "-", "x"]]);
}

#[tokio::test]
async fn a_result_that_is_not_what_its_tool_promised_is_refused() {
    let said = |content: Value| {
        let mut result = done("ok");
        result["structuredContent"] = content;
        result
    };
    let server = Scripted::start(move |seen, _| {
        if seen.body["method"] == "tools/list" {
            let schema = json!({"type": "object", "required": ["degrees"],
                "properties": {"degrees": {"type": "number"}}});
            let tool = json!({"name": "t", "inputSchema": {"type": "object"},
                "outputSchema": schema});
            return json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [tool]});
        }
        match seen.params()["arguments"]["case"].as_str().unwrap() {
            "fits" => said(json!({"degrees": 21.5, "more": true})),
            "misfit" => said(json!({"degrees": "warm"})),
            "failed" => json!({"resultType": "complete", "content": [], "isError": true}),
            _ => done("ok"),
        }
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let call = |case: &str| client.call("t").arg("case", case).into_future();
    // No schema has been listed yet.
    call("misfit").await.unwrap();
    client.tools().all().await.unwrap();
    call("fits").await.unwrap();
    call("failed").await.unwrap();
    let mut shown = String::new();
    for case in ["misfit", "missing"] {
        let error = call(case).await.unwrap_err();
        let cause = std::error::Error::source(&error).unwrap();
        shown += &format!("{:?} {error}: {cause}\n", error.kind());
    }
    expect![[r#"
        Peer the result does not fit the output schema of the tool `t` (MR0516): the structured content does not fit the tool's output schema
        Peer the result does not fit the output schema of the tool `t` (MR0516): the tool has an output schema, but the result has no structured content
    "#]]
    .assert_eq(&shown);
}

#[tokio::test]
async fn lists_that_a_server_does_not_have_are_empty_and_not_asked_for() {
    let server = Scripted::raw(|seen, _| match seen.body["method"].as_str() {
        Some("server/discover") => {
            let mut hello = discovered();
            hello["capabilities"] = json!({});
            hello
        }
        other => panic!("{other:?} is asked for"),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    assert!(client.tools().all().await.unwrap().is_empty());
    assert!(client.prompts().all().await.unwrap().is_empty());
    assert!(client.resources().all().await.unwrap().is_empty());
    assert!(client.resource_templates().all().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_child_that_died_is_listened_to_again_in_its_next_life() {
    let acknowledged = r#"echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$(id)}}}""#;
    let script = format!(
        r#"
        id() {{ printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'; }}
        while read -r line; do
            case "$line" in
                *server/discover*) echo "{{\"jsonrpc\":\"2.0\",\"id\":$(id),\"result\":{{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{{}}}}}}" ;;
                *subscriptions/listen*) {acknowledged}; exit ;;
            esac
        done
        "#
    );
    let client = Client::connect(Command::new("sh").arg("-c").arg(script));
    let client = client.await.unwrap();
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let mut changes = client.listen(filter).await.unwrap();
    for _ in 0..2 {
        assert_eq!(changes.next().await.unwrap(), Some(Change::Reopened));
    }
}
