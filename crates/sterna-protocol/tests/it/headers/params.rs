use expect_test::{Expect, expect};
use http::HeaderMap;
use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};
use sterna_protocol::http::ParamHeaders;
use sterna_protocol::json::RawObject;

use super::{headers, verdict};

fn mirrored() -> ParamHeaders {
    let schema = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "count": { "type": "integer", "x-mcp-header": "Count" },
        "flag": { "type": ["boolean", "null"], "x-mcp-header": "Flag" },
        "where": { "type": "object", "properties": {
            "tenant": { "type": "string", "x-mcp-header": "Tenant" },
        } },
        "query": { "type": "string" },
    } });
    ParamHeaders::of(&serde_json::from_value(schema).unwrap()).unwrap()
}

fn raw(arguments: &str) -> RawObject {
    serde_json::from_str(arguments).unwrap()
}

/// Checks the headers that a client sends with `arguments`.
#[track_caller]
fn written(arguments: &str, expected: Expect) {
    let mut headers = HeaderMap::new();
    expected.assert_eq(
        &match mirrored().write(Some(&raw(arguments)), &mut headers) {
            Ok(()) => {
                let mut lines: Vec<_> = headers
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                    .collect();
                lines.sort();
                lines.join("; ")
            }
            Err(error) => format!("not sent: {error}"),
        },
    );
}

/// Checks the judgement of a server on `arguments` with these headers.
#[track_caller]
fn check(arguments: &str, lines: &str, expected: Expect) {
    let checked = mirrored().check(Some(&raw(arguments)), &headers(lines));
    expected.assert_eq(&verdict(checked));
}

#[test]
fn each_type_has_its_form() {
    written(
        r#"{"region":"us-west1","count":42,"flag":true,"query":"SELECT 1"}"#,
        expect!["mcp-param-count: 42; mcp-param-flag: true; mcp-param-region: us-west1"],
    );
    written(
        r#"{"region":"","count":-7,"flag":false}"#,
        expect!["mcp-param-count: -7; mcp-param-flag: false; mcp-param-region: "],
    );
    written(
        r#"{"region":"\u4e16","count":42.0}"#,
        expect!["mcp-param-count: 42; mcp-param-region: =?base64?5LiW?="],
    );
    written(
        r#"{"count":9007199254740991}"#,
        expect!["mcp-param-count: 9007199254740991"],
    );
    written(
        r#"{"region":42,"count":"many","flag":"no"}"#,
        expect!["mcp-param-count: many; mcp-param-flag: no; mcp-param-region: 42"],
    );
}

#[test]
fn a_nested_parameter_is_read_at_its_exact_path() {
    written(
        r#"{"where":{"tenant":"acme","region":"no"},"tenant":"no"}"#,
        expect!["mcp-param-tenant: acme"],
    );
    written(r#"{"where":"acme"}"#, expect![]);
    written(r#"{"where":[{"tenant":"acme"}]}"#, expect![]);
    written(r#"{"where":null}"#, expect![]);
}

#[test]
fn what_is_missing_or_null_has_no_header() {
    written(r#"{"region":null,"count":null,"flag":null}"#, expect![]);
    written("{}", expect![]);
    let mut headers = HeaderMap::new();
    mirrored().write(None, &mut headers).unwrap();
    assert!(headers.is_empty());
}

#[test]
fn what_has_no_form_is_not_sent() {
    written(
        r#"{"count":1.5}"#,
        expect!["not sent: the value for `mcp-param-count` cannot be sent in a header"],
    );
    written(
        r#"{"count":9007199254740992}"#,
        expect!["not sent: the value for `mcp-param-count` cannot be sent in a header"],
    );
    written(
        r#"{"count":-9007199254740992.0}"#,
        expect!["not sent: the value for `mcp-param-count` cannot be sent in a header"],
    );
    written(
        r#"{"count":18446744073709551615}"#,
        expect!["not sent: the value for `mcp-param-count` cannot be sent in a header"],
    );
    written(
        r#"{"region":["a"]}"#,
        expect!["not sent: the value for `mcp-param-region` cannot be sent in a header"],
    );
    written(
        r#"{"where":{"tenant":{}}}"#,
        expect!["not sent: the value for `mcp-param-tenant` cannot be sent in a header"],
    );
    written(
        r#"{"region":"a","region":"b"}"#,
        expect!["not sent: the arguments are not an object, or name a mirrored parameter twice"],
    );
    written(
        r#"{"where":{"tenant":"a"},"where":{}}"#,
        expect!["not sent: the arguments are not an object, or name a mirrored parameter twice"],
    );
}

#[test]
fn headers_that_repeat_the_arguments_are_accepted() {
    check(
        r#"{"region":"us-west1","count":42,"flag":true,"where":{"tenant":"acme"}}"#,
        "Mcp-Param-Region: us-west1
         mcp-param-count: 42
         MCP-PARAM-FLAG: true
         Mcp-Param-Tenant: acme
         Mcp-Param-Unknown: forwarded",
        expect!["accepted"],
    );
    check(
        r#"{"region":"Hello"}"#,
        "Mcp-Param-Region: =?base64?SGVsbG8=?=",
        expect!["accepted"],
    );
    check(
        r#"{"region":"SGVsbG8="}"#,
        "Mcp-Param-Region: SGVsbG8=",
        expect!["accepted"],
    );
    check(r#"{"region":""}"#, "Mcp-Param-Region:", expect!["accepted"]);
}

#[test]
fn integers_are_compared_as_numbers() {
    for (arguments, header) in [
        (r#"{"count":42}"#, "42.0"),
        (r#"{"count":42.0}"#, "42"),
        (r#"{"count":4.2e1}"#, "42.000"),
        (r#"{"count":0}"#, "-0"),
        (r#"{"count":42}"#, "=?base64?NDI=?="),
    ] {
        check(
            arguments,
            &format!("Mcp-Param-Count: {header}"),
            expect!["accepted"],
        );
    }
    for header in [
        "43", "42.5", "42.", "+42", "4 2", "0x2a", "", "-", "42a", "1e400", "NaN",
    ] {
        check(
            r#"{"count":42}"#,
            &format!("Mcp-Param-Count: {header}"),
            expect![
                "Header mismatch: mcp-param-count does not match the body; send the value that the body has (-32020)"
            ],
        );
    }
    check(
        r#"{"count":9007199254740991}"#,
        "Mcp-Param-Count: 9007199254740991.4",
        expect![
            "Header mismatch: mcp-param-count does not match the body; send the value that the body has (-32020)"
        ],
    );
}

#[test]
fn strings_and_booleans_are_compared_as_text() {
    check(
        r#"{"region":"us-west1"}"#,
        "Mcp-Param-Region: US-WEST1",
        expect![
            "Header mismatch: mcp-param-region does not match the body; send the value that the body has (-32020)"
        ],
    );
    check(
        r#"{"region":"42"}"#,
        "Mcp-Param-Region: 42.0",
        expect![
            "Header mismatch: mcp-param-region does not match the body; send the value that the body has (-32020)"
        ],
    );
    check(
        r#"{"flag":true}"#,
        "Mcp-Param-Flag: True",
        expect![
            "Header mismatch: mcp-param-flag does not match the body; send the value that the body has (-32020)"
        ],
    );
    check(
        r#"{"flag":false}"#,
        "Mcp-Param-Flag: 0",
        expect![
            "Header mismatch: mcp-param-flag does not match the body; send the value that the body has (-32020)"
        ],
    );
}

#[test]
fn a_value_in_the_body_needs_its_header() {
    check(
        r#"{"region":"us-west1"}"#,
        "",
        expect![
            "Header mismatch: mcp-param-region is missing; send it with the value that the body has (-32020)"
        ],
    );
    check(
        r#"{"flag":false}"#,
        "",
        expect![
            "Header mismatch: mcp-param-flag is missing; send it with the value that the body has (-32020)"
        ],
    );
}

#[test]
fn a_header_needs_its_value_in_the_body() {
    check(r#"{"region":null}"#, "", expect!["accepted"]);
    check("{}", "", expect!["accepted"]);
    check(
        r#"{"region":null}"#,
        "Mcp-Param-Region: us-west1",
        expect![
            "Header mismatch: mcp-param-region has no value in the body; leave it out (-32020)"
        ],
    );
    check(
        "{}",
        "Mcp-Param-Tenant: acme",
        expect![
            "Header mismatch: mcp-param-tenant has no value in the body; leave it out (-32020)"
        ],
    );
}

#[test]
fn malformed_and_repeated_headers_are_refused() {
    check(
        r#"{"region":"é"}"#,
        "Mcp-Param-Region: é",
        expect![
            "Header mismatch: mcp-param-region is malformed; send plain ASCII, or `=?base64?…?=` (-32020)"
        ],
    );
    check(
        r#"{"region":"Hello"}"#,
        "Mcp-Param-Region: =?base64?SGVsbG8?=",
        expect![
            "Header mismatch: mcp-param-region is malformed; send plain ASCII, or `=?base64?…?=` (-32020)"
        ],
    );
    check(
        r#"{"region":"a"}"#,
        "Mcp-Param-Region: a\nMcp-Param-Region: a",
        expect!["Header mismatch: mcp-param-region is repeated; send it once (-32020)"],
    );
    check(
        "{}",
        "Mcp-Param-Region: a\nMcp-Param-Region: a",
        expect!["Header mismatch: mcp-param-region is repeated; send it once (-32020)"],
    );
}

#[test]
fn a_body_that_no_header_could_repeat_is_refused() {
    check(
        r#"{"region":{}}"#,
        "Mcp-Param-Region: {}",
        expect!["Header mismatch: mcp-param-region cannot carry the value in the body (-32020)"],
    );
    check(
        r#"{"region":"a","region":"b"}"#,
        "Mcp-Param-Region: b",
        expect![
            "Header mismatch: the arguments are not an object, or name a mirrored parameter twice (-32020)"
        ],
    );
    check(
        r#"{"\ud800":1}"#,
        "",
        expect![
            "Header mismatch: the arguments are not an object, or name a mirrored parameter twice (-32020)"
        ],
    );
}

#[test]
fn a_tool_without_annotations_looks_at_nothing() {
    let none = ParamHeaders::default();
    assert!(none.is_empty());
    assert!(
        none.check(Some(&raw("{\"a\":1e999}")), &headers("Mcp-Param-A: b"))
            .is_ok()
    );
}

fn argument() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53) + 1..1 << 53).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!({})),
        Just(json!([1])),
    ]
}

proptest! {
    #[test]
    fn what_a_client_writes_a_server_accepts(
        region in argument(),
        count in argument(),
        flag in argument(),
        tenant in argument(),
    ) {
        let arguments = serde_json::from_value(json!({
            "region": region, "count": count, "flag": flag, "where": { "tenant": tenant },
        })).unwrap();
        let mut headers = HeaderMap::new();
        let written = mirrored().write(Some(&arguments), &mut headers);
        let checked = mirrored().check(Some(&arguments), &headers);
        prop_assert_eq!(written.is_ok(), checked.is_ok(), "{:?} {:?}", written, checked);
    }
}
