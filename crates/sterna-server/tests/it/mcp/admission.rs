use expect_test::{Expect, expect};
use http::{HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_server::{Cx, Server};

use super::{CAPABILITIES, Client, Reply, VERSION, headers};

#[derive(Deserialize, JsonSchema)]
struct Query {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
}

async fn query(_: Cx<'_>, args: Query) -> String {
    format!("in {:?}", args.region)
}

fn client() -> Client {
    Client::of(Server::new("admission", "1").tool("query", "Looks", query))
}

fn meta() -> Value {
    json!({VERSION: "2026-07-28", CAPABILITIES: {}})
}

async fn check(headers: HeaderMap, method: &str, params: Value, expected: Expect) {
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": params});
    check_body(headers, &body.to_string(), expected).await;
}

async fn check_body(headers: HeaderMap, body: &str, expected: Expect) {
    let response = client().post(headers, body.to_owned()).await;
    let reply = Reply::read(response).await;
    let shown = match reply.messages.first() {
        None => format!("{} empty", reply.status),
        Some(message) if message.get("result").is_some() => {
            format!("{} {} result", reply.status, message["id"])
        }
        Some(message) => {
            let id = message
                .get("id")
                .map_or_else(|| "no id".to_owned(), Value::to_string);
            format!("{id}: {}", reply.error())
        }
    };
    expected.assert_eq(&shown);
}

fn modern(method: &str) -> HeaderMap {
    headers("2026-07-28", method)
}

fn without(mut headers: HeaderMap, name: &str) -> HeaderMap {
    headers.remove(name);
    headers
}

fn with(mut headers: HeaderMap, name: &'static str, value: &str) -> HeaderMap {
    headers.insert(name, HeaderValue::from_str(value).unwrap());
    headers
}

#[tokio::test]
async fn a_request_without_the_required_meta_is_invalid_params() {
    for params in [
        json!({}),
        json!({"_meta": {}}),
        json!({"_meta": {CAPABILITIES: {}}}),
        json!({"_meta": {VERSION: "2026-07-28"}}),
        json!({"_meta": {VERSION: 7, CAPABILITIES: {}}}),
        json!({"_meta": null}),
    ] {
        check(
            modern("server/discover"),
            "server/discover",
            params,
            expect![[r#"9: 400 -32602 "Invalid params: _meta""#]],
        )
        .await;
    }
    check(
        modern("server/discover"),
        "server/discover",
        json!({"_meta": meta()}),
        expect!["200 9 result"],
    )
    .await;
}

#[tokio::test]
async fn headers_are_compared_before_the_version_is_judged() {
    let discover = "server/discover";
    let strange = json!({"_meta": {VERSION: "v999", CAPABILITIES: {}}});
    check(
        modern(discover),
        discover,
        strange.clone(),
        expect![[
            r#"9: 400 -32020 "Header mismatch: mcp-protocol-version does not match the body""#
        ]],
    )
    .await;
    check(
        headers("v999", discover),
        discover,
        strange,
        expect![[
            r#"9: 400 -32022 "Unsupported protocol version" {"requested":"v999","supported":["2026-07-28"]}"#
        ]],
    )
    .await;
    check(
        without(modern(discover), "mcp-protocol-version"),
        discover,
        json!({"_meta": meta()}),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-protocol-version is missing""#]],
    )
    .await;
}

#[tokio::test]
async fn method_and_name_are_compared_before_the_method_is_looked_up() {
    let list = "tools/list";
    for (headers, expected) in [
        (
            without(modern(list), "mcp-method"),
            expect![[r#"9: 400 -32020 "Header mismatch: mcp-method is missing""#]],
        ),
        (
            modern("TOOLS/LIST"),
            expect![[r#"9: 400 -32020 "Header mismatch: mcp-method does not match the body""#]],
        ),
        (modern(list), expect!["200 9 result"]),
    ] {
        check(headers, list, json!({"_meta": meta()}), expected).await;
    }
    check(
        modern("x/y"),
        "unknown/method",
        json!({"_meta": meta()}),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-method does not match the body""#]],
    )
    .await;
    let call = json!({"name": "query", "_meta": meta()});
    check(
        modern("tools/call"),
        "tools/call",
        call.clone(),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-name is missing""#]],
    )
    .await;
    check(
        with(modern("tools/call"), "mcp-name", "other"),
        "tools/call",
        call.clone(),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-name does not match the body""#]],
    )
    .await;
    check(
        with(modern("tools/call"), "mcp-name", "=?base64?cXVlcnk=?="),
        "tools/call",
        call,
        expect!["200 9 result"],
    )
    .await;
}

#[tokio::test]
async fn mirrored_arguments_must_be_mirrored() {
    let call = json!({"name": "query", "arguments": {"region": "north"}, "_meta": meta()});
    let named = || with(modern("tools/call"), "mcp-name", "query");
    check(
        named(),
        "tools/call",
        call.clone(),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-param-region is missing""#]],
    )
    .await;
    check(
        with(named(), "mcp-param-region", "south"),
        "tools/call",
        call.clone(),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-param-region does not match the body""#]],
    )
    .await;
    check(
        with(named(), "mcp-param-region", "north"),
        "tools/call",
        call,
        expect!["200 9 result"],
    )
    .await;
}

#[tokio::test]
async fn methods_that_are_not_there_are_not_found() {
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "x/y",
        "prompts/list",
        "completion/complete",
        "resources/list",
    ] {
        let params = json!({
            "_meta": meta(),
            "ref": {"type": "ref/prompt", "name": "x"},
            "argument": {"name": "x", "value": ""},
        });
        check(
            modern(method),
            method,
            params,
            expect![[r#"9: 404 -32601 "Method not found""#]],
        )
        .await;
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused_without_a_crash() {
    for (body, expected) in [
        ("", expect![[r#"no id: 400 -32700 "Parse error""#]]),
        ("{", expect![[r#"no id: 400 -32700 "Parse error""#]]),
        ("[]", expect![[r#"no id: 400 -32600 "Invalid request""#]]),
        (
            r#"{"jsonrpc":"1.0","id":3,"method":"x"}"#,
            expect![[r#"3: 400 -32600 "Invalid request""#]],
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            expect![[r#"no id: 400 -32600 "Invalid request""#]],
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
            expect!["400 empty"],
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            expect!["202 empty"],
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
            expect!["400 empty"],
        ),
        (
            r#"{"jsonrpc":"2.0","method":"unknown"}"#,
            expect!["400 empty"],
        ),
    ] {
        check_body(modern("x"), body, expected).await;
    }
}
