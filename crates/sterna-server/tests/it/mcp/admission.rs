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
    expected.assert_eq(&shown(headers, method, &params).await);
}

async fn check_body(headers: HeaderMap, body: &str, expected: Expect) {
    expected.assert_eq(&shown_body(headers, body).await);
}

async fn shown(headers: HeaderMap, method: &str, params: &Value) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": params});
    shown_body(headers, &body.to_string()).await
}

async fn shown_body(headers: HeaderMap, body: &str) -> String {
    let response = client().post(headers, body.to_owned()).await;
    let reply = Reply::read(response).await;
    match reply.messages.first() {
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
    }
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
    for (params, expected) in [
        (
            json!({}),
            expect![[r#"9: 400 -32602 "Invalid params: `_meta`: missing field `_meta`""#]],
        ),
        (
            json!({"_meta": {}}),
            expect![[
                r#"9: 400 -32602 "Invalid params: `_meta`: missing field `io.modelcontextprotocol/protocolVersion`""#
            ]],
        ),
        (
            json!({"_meta": {CAPABILITIES: {}}}),
            expect![[
                r#"9: 400 -32602 "Invalid params: `_meta`: missing field `io.modelcontextprotocol/protocolVersion`""#
            ]],
        ),
        (
            json!({"_meta": {VERSION: "2026-07-28"}}),
            expect![[
                r#"9: 400 -32602 "Invalid params: `_meta`: missing field `io.modelcontextprotocol/clientCapabilities`""#
            ]],
        ),
        (
            json!({"_meta": {VERSION: 7, CAPABILITIES: {}}}),
            expect![[
                r#"9: 400 -32602 "Invalid params: `_meta`: `io.modelcontextprotocol/protocolVersion`: invalid type: integer, expected a string""#
            ]],
        ),
        (
            json!({"_meta": null}),
            expect![[
                r#"9: 400 -32602 "Invalid params: `_meta`: invalid type: null, expected an object (RequestMeta)""#
            ]],
        ),
    ] {
        let method = "server/discover";
        check(modern(method), method, params, expected).await;
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
            r#"9: 400 -32020 "Header mismatch: mcp-protocol-version does not match the body; send the value that the body has""#
        ]],
    )
    .await;
    check(
        headers("v999", discover),
        discover,
        strange,
        expect![[
            r#"9: 400 -32022 "Unsupported protocol version `v999`; this server speaks 2026-07-28" {"requested":"v999","supported":["2026-07-28"]}"#
        ]],
    )
    .await;
    check(
        without(modern(discover), "mcp-protocol-version"),
        discover,
        json!({"_meta": meta()}),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-protocol-version is missing; send `mcp-protocol-version: 2026-07-28`, as in `_meta` of the body""#]],
    )
    .await;
}

#[tokio::test]
async fn method_and_name_are_compared_before_the_method_is_looked_up() {
    let list = "tools/list";
    for (headers, expected) in [
        (
            without(modern(list), "mcp-method"),
            expect![[
                r#"9: 400 -32020 "Header mismatch: mcp-method is missing; send it with the value that the body has""#
            ]],
        ),
        (
            modern("TOOLS/LIST"),
            expect![[
                r#"9: 400 -32020 "Header mismatch: mcp-method does not match the body; send the value that the body has""#
            ]],
        ),
        (modern(list), expect!["200 9 result"]),
    ] {
        check(headers, list, json!({"_meta": meta()}), expected).await;
    }
    check(
        modern("x/y"),
        "unknown/method",
        json!({"_meta": meta()}),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-method does not match the body; send the value that the body has""#]],
    )
    .await;
    let call = json!({"name": "query", "_meta": meta()});
    check(
        modern("tools/call"),
        "tools/call",
        call.clone(),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-name is missing; send it with the value that the body has""#]],
    )
    .await;
    check(
        with(modern("tools/call"), "mcp-name", "other"),
        "tools/call",
        call.clone(),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-name does not match the body; send the value that the body has""#]],
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
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-param-region is missing; send it with the value that the body has""#]],
    )
    .await;
    check(
        with(named(), "mcp-param-region", "south"),
        "tools/call",
        call.clone(),
        expect![[r#"9: 400 -32020 "Header mismatch: mcp-param-region does not match the body; send the value that the body has""#]],
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
async fn a_mirrored_argument_is_decoded_strictly() {
    let call = json!({"name": "query", "arguments": {"region": "nörd"}, "_meta": meta()});
    let named = || with(modern("tools/call"), "mcp-name", "query");
    let differs = r#"9: 400 -32020 "Header mismatch: mcp-param-region does not match the body; send the value that the body has""#;
    for (value, expected) in [
        ("=?base64?bsO2cmQ=?=", "200 9 result"),
        ("=?base64?bsO2cmQ?=", ""),
        ("=?base64?bsO2cmQ=", ""),
        ("=?base64?!?=", ""),
        ("bsO2cmQ=", differs),
    ] {
        let headers = with(named(), "mcp-param-region", value);
        let shown = shown(headers, "tools/call", &call).await;
        match expected {
            "" => assert!(shown.starts_with("9: 400 -32020"), "{value}: {shown}"),
            expected => assert_eq!(shown, expected, "{value}"),
        }
    }
    // Bytes that are no text of a header, though they are those of the body.
    let mut raw = named();
    raw.insert(
        "mcp-param-region",
        HeaderValue::from_bytes("nörd".as_bytes()).unwrap(),
    );
    let shown = shown(raw, "tools/call", &call).await;
    assert!(shown.starts_with("9: 400 -32020"), "{shown}");
}

#[tokio::test]
async fn an_argument_that_is_absent_or_null_has_no_header() {
    let named = || with(modern("tools/call"), "mcp-name", "query");
    for arguments in [json!({}), json!({"region": null})] {
        let call = json!({"name": "query", "arguments": arguments, "_meta": meta()});
        assert_eq!(shown(named(), "tools/call", &call).await, "200 9 result");
    }
}

#[tokio::test]
async fn a_name_in_other_letters_is_another_name() {
    let call = json!({"name": "Query", "arguments": {}, "_meta": meta()});
    check(
        with(modern("tools/call"), "mcp-name", "Query"),
        "tools/call",
        call,
        expect![[r#"9: 200 -32602 "Unknown tool `Query`; did you mean `query`?""#]],
    )
    .await;
}

#[tokio::test]
async fn a_log_level_that_nobody_knows_is_invalid() {
    let level = "io.modelcontextprotocol/logLevel";
    for (level, expected) in [
        (
            json!({level: "chatty"}),
            expect![[
                r#"9: 400 -32602 "Invalid params: `io.modelcontextprotocol/logLevel` in `_meta` is `chatty`, which is no level""#
            ]],
        ),
        (
            json!({level: 7}),
            expect![[
                r#"9: 400 -32602 "Invalid params: `_meta`: `io.modelcontextprotocol/logLevel`: invalid type: integer, expected a string""#
            ]],
        ),
        (json!({level: "emergency"}), expect!["200 9 result"]),
    ] {
        let mut params = json!({"_meta": meta()});
        for (key, value) in level.as_object().unwrap() {
            params["_meta"][key] = value.clone();
        }
        check(modern("tools/list"), "tools/list", params, expected).await;
    }
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
        let reply = shown(modern(method), method, &params).await;
        let unknown = format!(
            "9: 404 -32601 \"Method not found: `{method}`; this server does not offer it\""
        );
        assert_eq!(reply, unknown);
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused_without_a_crash() {
    for (body, expected) in [
        (
            "",
            expect![[
                r#"no id: 400 -32700 "Parse error: EOF while parsing a value at line 1 column 0""#
            ]],
        ),
        (
            "{",
            expect![[
                r#"no id: 400 -32700 "Parse error: EOF while parsing an object at line 1 column 1""#
            ]],
        ),
        (
            "[]",
            expect![[
                r#"no id: 400 -32600 "Invalid request: a batch of messages; send each by itself""#
            ]],
        ),
        (
            r#"{"jsonrpc":"1.0","id":3,"method":"x"}"#,
            expect![[r#"3: 400 -32600 "Invalid request: `jsonrpc` is not \"2.0\"""#]],
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            expect![[
                r#"no id: 400 -32600 "Invalid request: `id` is not an integer or a string of at most 1024 bytes""#
            ]],
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
