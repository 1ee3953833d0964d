use expect_test::{Expect, expect};
use http::HeaderMap;
use serde_json::value::RawValue;
use sterna_protocol::http::{RequestHeaders, mirrored_name, name_member};

use super::{headers, verdict};

fn call(name: &str) -> RequestHeaders<'_> {
    RequestHeaders::new("2026-07-28", "tools/call", Some(name))
}

#[track_caller]
fn check(body: RequestHeaders<'_>, lines: &str, expected: Expect) {
    expected.assert_eq(&verdict(body.check(&headers(lines))));
}

#[test]
fn the_names_of_headers_have_no_case_and_the_values_do() {
    check(
        call("get_weather"),
        "MCP-Protocol-Version: 2026-07-28
         Mcp-Method: tools/call
         Mcp-Name: get_weather",
        expect!["accepted"],
    );
    check(
        call("get_weather"),
        "mcp-protocol-version: 2026-07-28
         MCP-METHOD: tools/call
         mcp-name: get_weather",
        expect!["accepted"],
    );
    check(
        call("get_weather"),
        "MCP-Protocol-Version: 2026-07-28
         Mcp-Method: TOOLS/CALL
         Mcp-Name: get_weather",
        expect![
            "Header mismatch: mcp-method does not match the body; send the value that the body has (-32020)"
        ],
    );
    check(
        call("get_weather"),
        "MCP-Protocol-Version: 2026-07-28
         Mcp-Method: tools/call
         Mcp-Name: Get_Weather",
        expect![
            "Header mismatch: mcp-name does not match the body; send the value that the body has (-32020)"
        ],
    );
}

#[test]
fn each_standard_header_must_be_there() {
    check(
        call("a"),
        "Mcp-Method: tools/call\nMcp-Name: a",
        expect![
            "Header mismatch: mcp-protocol-version is missing; send `mcp-protocol-version: 2026-07-28`, as in `_meta` of the body (-32020)"
        ],
    );
    check(
        call("a"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Name: a",
        expect![
            "Header mismatch: mcp-method is missing; send it with the value that the body has (-32020)"
        ],
    );
    check(
        call("a"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call",
        expect![
            "Header mismatch: mcp-name is missing; send it with the value that the body has (-32020)"
        ],
    );
}

#[test]
fn each_standard_header_must_say_what_the_body_says() {
    check(
        call("a"),
        "MCP-Protocol-Version: 2025-11-25\nMcp-Method: tools/call\nMcp-Name: a",
        expect![
            "Header mismatch: mcp-protocol-version does not match the body; send the value that the body has (-32020)"
        ],
    );
    check(
        call("a"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: prompts/get\nMcp-Name: a",
        expect![
            "Header mismatch: mcp-method does not match the body; send the value that the body has (-32020)"
        ],
    );
    check(
        call("a"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: b",
        expect![
            "Header mismatch: mcp-name does not match the body; send the value that the body has (-32020)"
        ],
    );
}

#[test]
fn a_header_that_stands_twice_is_refused_even_if_both_are_right() {
    check(
        call("a"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: a\nmcp-name: a",
        expect!["Header mismatch: mcp-name is repeated; send it once (-32020)"],
    );
}

#[test]
fn only_the_name_may_be_encoded() {
    check(
        call("日本語"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: =?base64?5pel5pys6Kqe?=",
        expect!["accepted"],
    );
    check(
        call("Hello"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: =?base64?SGVsbG8=?=",
        expect!["accepted"],
    );
    check(
        call("a"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: =?base64?dG9vbHMvY2FsbA==?=\nMcp-Name: a",
        expect![
            "Header mismatch: mcp-method does not match the body; send the value that the body has (-32020)"
        ],
    );
}

#[test]
fn a_malformed_header_is_refused() {
    check(
        call("é"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: é",
        expect![
            "Header mismatch: mcp-name is malformed; send plain ASCII, or `=?base64?…?=` (-32020)"
        ],
    );
    check(
        call("Hello"),
        "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: =?base64?SGVsbG8?=",
        expect![
            "Header mismatch: mcp-name is malformed; send plain ASCII, or `=?base64?…?=` (-32020)"
        ],
    );
}

#[test]
fn a_method_without_a_name_needs_no_name_header() {
    let body = RequestHeaders::new("2026-07-28", "tools/list", None);
    let lines = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/list";
    check(body, lines, expect!["accepted"]);
    check(
        body,
        &format!("{lines}\nMcp-Name: left_over"),
        expect!["accepted"],
    );
}

#[test]
fn what_is_written_is_accepted() {
    for name in [
        "my-tool_2",
        "Hello, 世界",
        " padded ",
        "=?base64?literal?=",
        "",
    ] {
        let mut written = HeaderMap::new();
        call(name).write(&mut written).unwrap();
        assert_eq!(verdict(call(name).check(&written)), "accepted");
    }
}

#[test]
fn a_method_that_no_header_can_carry_is_not_written() {
    for method in ["méthode", " tools/call", "a\nb: c"] {
        let body = RequestHeaders::new("2026-07-28", method, None);
        assert!(body.write(&mut HeaderMap::new()).is_err(), "{method:?}");
    }
}

#[test]
fn the_name_is_found_where_the_method_says() {
    for (method, params, name) in [
        (
            "tools/call",
            r#"{"_meta":{"name":"no"},"name":"get\u005fweather"}"#,
            Some("get_weather"),
        ),
        (
            "prompts/get",
            r#"{"name":"greet","uri":"no"}"#,
            Some("greet"),
        ),
        (
            "resources/read",
            r#"{"uri":"file:///a","name":"no"}"#,
            Some("file:///a"),
        ),
        ("tasks/get", r#"{"taskId":"t1","name":"no"}"#, Some("t1")),
        ("tasks/update", r#"{"taskId":"t1"}"#, Some("t1")),
        ("tasks/cancel", r#"{"taskId":"t1"}"#, Some("t1")),
        ("tools/list", r#"{"name":"no"}"#, None),
        ("tools/call", r#"{"name":7}"#, None),
        ("tools/call", r#"{"name":"a","name":"a"}"#, None),
        ("tools/call", "[]", None),
        ("tools/call", "{}", None),
    ] {
        let params = RawValue::from_string(params.to_owned()).unwrap();
        assert_eq!(
            mirrored_name(method, &params).as_deref(),
            name,
            "{method} {params}"
        );
    }
    assert_eq!(name_member("completion/complete"), None);
}
