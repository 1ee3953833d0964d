use std::error::Error as _;

use expect_test::{Expect, expect};
use serde::de::IgnoredAny;
use sterna_protocol::jsonrpc::{DecodeError, ErrorObject, MAX_DEPTH, Message, Nothing, Untagged};

use super::calls::{Complete, Typed};

/// Checks the outcome of decoding `json` at the small endpoint.
#[track_caller]
fn check(json: &str, expected: Expect) {
    expected.assert_eq(&match Typed::decode(json.as_bytes()) {
        Ok(Message::Request(request)) => {
            format!("{:?} {} {:?}", request.id, request.method, request.params)
        }
        Ok(Message::Notification(note)) => format!("{} {:?}", note.method, note.params),
        Ok(Message::Result(response)) => format!("{:?} {:?}", response.id, response.result),
        Ok(Message::Error(response)) => format!("{:?} {}", response.id, response.error),
        Err(error) => refusal(&error),
    });
}

fn refusal(error: &DecodeError) -> String {
    let mut text = error.to_string();
    if let Some(cause) = error.source() {
        text += &format!(": {cause}");
    }
    text += &format!("; {}", ErrorObject::from(error));
    if let Some(id) = error.request_id() {
        text += &format!("; answer {id:?}");
    }
    if let Some(id) = error.response_id() {
        text += &format!("; ends {id:?}");
    }
    text
}

#[test]
fn the_method_decides_what_the_params_are() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"a","times":2}}"#,
        expect![[r#"Integer(1) echo Echo(Echo { text: "a", times: 2 })"#]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":"x","method":"list","params":{"cursor":"c"}}"#,
        expect![[r#"String("x") list List(Some(List { cursor: Some("c") }))"#]],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"note","params":{"level":3}}"#,
        expect!["note Note { level: 3 }"],
    );
}

#[test]
fn the_order_of_members_does_not_matter() {
    check(
        r#"{"method":"echo","params":{"text":"a"},"jsonrpc":"2.0","id":1}"#,
        expect![[r#"Integer(1) echo Echo(Echo { text: "a", times: 0 })"#]],
    );
    check(
        r#"{"params":{"text":"a"},"id":1,"method":"echo","jsonrpc":"2.0"}"#,
        expect![[r#"Integer(1) echo Echo(Echo { text: "a", times: 0 })"#]],
    );
    check(
        r#"{"params":{"level":1},"method":"note","jsonrpc":"2.0"}"#,
        expect!["note Note { level: 1 }"],
    );
    check(
        r#"{"result":{"content":[]},"id":1,"jsonrpc":"2.0"}"#,
        expect!["Integer(1) Complete(Complete { content: [], extra: {} })"],
    );
}

#[test]
fn escapes_white_space_and_unknown_members_do_not_matter() {
    check(
        "\r\n { \"jsonrpc\" : \"2.\\u0030\" , \"\\u0069d\" : 1 , \"trace\" : [ { } ] , \"method\" : \"ec\\u0068o\" , \"params\" : { \"text\" : \"\\n\" } }\t",
        expect![[r#"Integer(1) echo Echo(Echo { text: "\n", times: 0 })"#]],
    );
}

#[test]
fn params_may_be_left_out_where_nothing_in_them_is_required() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list"}"#,
        expect!["Integer(1) list List(None)"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list","params":{}}"#,
        expect!["Integer(1) list List(Some(List { cursor: None }))"],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"note"}"#,
        expect!["note Note { level: 0 }"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#,
        expect![
            "parameters of `echo` are malformed: missing field `text`; Invalid params: missing field `text` (-32602); answer Integer(1)"
        ],
    );
}

#[test]
fn params_that_are_no_object_are_refused() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":["a",2]}"#,
        expect![
            "parameters of `echo` are malformed: invalid type: sequence, expected struct Echo at line 1 column 0; Invalid params: invalid type: sequence, expected struct Echo (-32602); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list","params":null}"#,
        expect![
            "parameters of `list` are malformed: invalid type: null, expected struct List at line 1 column 4; Invalid params: invalid type: null, expected struct List (-32602); answer Integer(1)"
        ],
    );
    check(
        r#"{"params":["c"],"jsonrpc":"2.0","id":1,"method":"list"}"#,
        expect![
            "parameters of `list` are malformed: invalid type: sequence, expected struct List at line 1 column 0; Invalid params: invalid type: sequence, expected struct List (-32602); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"note","params":[7]}"#,
        expect![
            "parameters of `note` are malformed: invalid type: sequence, expected struct Note at line 1 column 0; Invalid params: invalid type: sequence, expected struct Note (-32602)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"note","params":7}"#,
        expect![
            "parameters of `note` are malformed: invalid type: integer `7`, expected struct Note at line 1 column 1; Invalid params: invalid type: integer, expected struct Note (-32602)"
        ],
    );
}

#[test]
fn malformed_params_leave_the_id_for_the_answer() {
    check(
        r#"{"jsonrpc":"2.0","method":"echo","params":{"text":1},"id":9}"#,
        expect![
            "parameters of `echo` are malformed: invalid type: integer `1`, expected a string at line 1 column 9; Invalid params: invalid type: integer, expected a string (-32602); answer Integer(9)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":"s","method":"echo","params":{}}"#,
        expect![[
            r#"parameters of `echo` are malformed: missing field `text` at line 1 column 2; Invalid params: missing field `text` (-32602); answer String("s")"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"note","params":{"level":"high"}}"#,
        expect![[
            r#"parameters of `note` are malformed: invalid type: string "high", expected i32 at line 1 column 15; Invalid params: invalid type: string, expected i32 (-32602)"#
        ]],
    );
}

#[test]
fn an_unknown_method_leaves_the_id_for_the_answer() {
    check(
        r#"{"jsonrpc":"2.0","id":4,"method":"Echo","params":{"text":"a"}}"#,
        expect!["unknown method `Echo`; Method not found: `Echo` (-32601); answer Integer(4)"],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"echo2"}"#,
        expect!["unknown method `echo2`; Method not found: `echo2` (-32601)"],
    );
}

#[test]
fn a_request_is_no_notification_and_the_reverse() {
    check(
        r#"{"jsonrpc":"2.0","method":"echo","params":{"text":"a"}}"#,
        expect!["unknown method `echo`; Method not found: `echo` (-32601)"],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"note","params":{},"id":4}"#,
        expect!["unknown method `note`; Method not found: `note` (-32601); answer Integer(4)"],
    );
}

#[test]
fn an_id_is_a_string_or_an_integer() {
    check(
        r#"{"jsonrpc":"2.0","id":5.0,"method":"list"}"#,
        expect!["Integer(5) list List(None)"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"method":"list"}"#,
        expect![
            "not a message: `id` is not an integer or a string of at most 1024 bytes; Invalid request: `id` is not an integer or a string of at most 1024 bytes (-32600)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1.5,"method":"list"}"#,
        expect![
            "not a message: `id` is not an integer or a string of at most 1024 bytes; Invalid request: `id` is not an integer or a string of at most 1024 bytes (-32600)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":{},"method":"note"}"#,
        expect![
            "not a message: `id` is not an integer or a string of at most 1024 bytes; Invalid request: `id` is not an integer or a string of at most 1024 bytes (-32600)"
        ],
    );
}

#[test]
fn the_result_type_alone_decides_what_a_result_is() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[1]}}"#,
        expect![[
            r#"Integer(1) Complete(Complete { content: [Number(1)], extra: {"resultType": String("complete")} })"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"open","state":"s","content":[1]}}"#,
        expect![[
            r#"Integer(1) Open(Open { state: "s", extra: {"resultType": String("open"), "content": Array [Number(1)]} })"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":1},"state":"s","resultType":"open","more":2}}"#,
        expect![[
            r#"Integer(1) Open(Open { state: "s", extra: {"_meta": Object {"a": Number(1)}, "resultType": String("open"), "more": Number(2)} })"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"state":"s","result\u0054ype":"o\u0070en"}}"#,
        expect![[r#"Integer(1) Open(Open { state: "s", extra: {"resultType": String("open")} })"#]],
    );
}

#[test]
fn a_result_without_a_type_is_complete() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[1],"state":"s"}}"#,
        expect![[
            r#"Integer(1) Complete(Complete { content: [Number(1)], extra: {"state": String("s")} })"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"state":"s"}}"#,
        expect![
            "the result is malformed: missing field `content` at line 1 column 13; Invalid request (-32600); ends Integer(1)"
        ],
    );
}

#[test]
fn an_unknown_result_type_is_an_error_of_its_own() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"partial","content":[]}}"#,
        expect!["unknown result type `partial`; Invalid request (-32600); ends Integer(1)"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"Complete"}}"#,
        expect!["unknown result type `Complete`; Invalid request (-32600); ends Integer(1)"],
    );
}

#[test]
fn a_malformed_result_ends_the_request_it_answers() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"open"}}"#,
        expect![
            "the result is malformed: missing field `state` at line 1 column 21; Invalid request (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":7,"content":[]}}"#,
        expect![
            "the result is malformed: invalid type: integer `7`, expected a string at line 1 column 15; Invalid request (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":null,"content":[]}}"#,
        expect![
            "the result is malformed: invalid type: null, expected a string at line 1 column 18; Invalid request (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"open","state":"s","resultType":"open"}}"#,
        expect![
            "the result is malformed: duplicate field `resultType` at line 1 column 45; Invalid request (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":[[]]}"#,
        expect![
            "the result is malformed: invalid type: sequence, expected a result at line 1 column 0; Invalid request (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
        expect![
            "the result is malformed: invalid type: null, expected a result at line 1 column 4; Invalid request (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","result":{"content":[]}}"#,
        expect![
            "not a response: `id` is not an integer or a string of at most 1024 bytes; Invalid request: `id` is not an integer or a string of at most 1024 bytes (-32600)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"result":{"content":[]}}"#,
        expect![
            "not a response: `id` is not an integer or a string of at most 1024 bytes; Invalid request: `id` is not an integer or a string of at most 1024 bytes (-32600)"
        ],
    );
}

#[test]
fn an_error_may_come_without_an_id() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
        expect!["Some(Integer(1)) no (-32601)"],
    );
    check(
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#,
        expect!["None no (-32700)"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        expect!["None no (-32700)"],
    );
}

#[test]
fn a_malformed_error_ends_the_request_it_answers() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"no"}}"#,
        expect![
            "not a response: `error` is not an error object; Invalid request: `error` is not an error object (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":[],"error":{"code":1,"message":"no"}}"#,
        expect![
            "not a response: `id` is not an integer or a string of at most 1024 bytes; Invalid request: `id` is not an integer or a string of at most 1024 bytes (-32600)"
        ],
    );
}

#[test]
fn a_message_that_says_two_things_is_refused() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":{"code":1,"message":"no"}}"#,
        expect![
            "not a response: members of both a request and a response, or both `result` and `error`; Invalid request: members of both a request and a response, or both `result` and `error` (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list","result":{"content":[]}}"#,
        expect![
            "not a message: members of both a request and a response, or both `result` and `error`; Invalid request: members of both a request and a response, or both `result` and `error` (-32600); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"params":{},"result":{"content":[]}}"#,
        expect![
            "not a response: members of both a request and a response, or both `result` and `error`; Invalid request: members of both a request and a response, or both `result` and `error` (-32600); ends Integer(1)"
        ],
    );
}

#[test]
fn a_member_that_stands_twice_is_refused() {
    check(
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"list"}"#,
        expect![
            "not a message: `jsonrpc` occurs twice; Invalid request: `jsonrpc` occurs twice (-32600); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"list"}"#,
        expect!["not a message: `id` occurs twice; Invalid request: `id` occurs twice (-32600)"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list","method":"list"}"#,
        expect![
            "not a message: `method` occurs twice; Invalid request: `method` occurs twice (-32600); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list","params":{},"params":{}}"#,
        expect![
            "not a message: `params` occurs twice; Invalid request: `params` occurs twice (-32600); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"result":{"content":[]}}"#,
        expect![
            "not a response: `result` occurs twice; Invalid request: `result` occurs twice (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"},"error":{"code":1,"message":"a"}}"#,
        expect![
            "not a response: `error` occurs twice; Invalid request: `error` occurs twice (-32600); ends Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list","method":"list","id":1}"#,
        expect!["not a message: `id` occurs twice; Invalid request: `id` occurs twice (-32600)"],
    );
}

#[test]
fn only_version_two_is_read() {
    check(
        r#"{"id":1,"method":"list"}"#,
        expect![[
            r#"not a message: `jsonrpc` is not "2.0"; Invalid request: `jsonrpc` is not "2.0" (-32600); answer Integer(1)"#
        ]],
    );
    check(
        r#"{"jsonrpc":"1.0","id":1,"method":"list"}"#,
        expect![[
            r#"not a message: `jsonrpc` is not "2.0"; Invalid request: `jsonrpc` is not "2.0" (-32600); answer Integer(1)"#
        ]],
    );
    check(
        r#"{"jsonrpc":2.0,"id":1,"method":"list"}"#,
        expect![[
            r#"not a message: `jsonrpc` is not "2.0"; Invalid request: `jsonrpc` is not "2.0" (-32600); answer Integer(1)"#
        ]],
    );
}

#[test]
fn what_is_no_message_is_refused() {
    check(
        r#"{}"#,
        expect![[
            r#"not a message: `jsonrpc` is not "2.0"; Invalid request: `jsonrpc` is not "2.0" (-32600)"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1}"#,
        expect![
            "not a message: neither `method` nor `result` nor `error`; Invalid request: neither `method` nor `result` nor `error` (-32600); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"params":{}}"#,
        expect![
            "not a message: neither `method` nor `result` nor `error`; Invalid request: neither `method` nor `result` nor `error` (-32600); answer Integer(1)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        expect![
            "not a message: `method` is not a string; Invalid request: `method` is not a string (-32600); answer Integer(1)"
        ],
    );
    check(
        "7",
        expect!["not a message: not an object; Invalid request: not an object (-32600)"],
    );
    check(
        r#""text""#,
        expect!["not a message: not an object; Invalid request: not an object (-32600)"],
    );
}

#[test]
fn batches_are_refused() {
    check(
        r#"[{"jsonrpc":"2.0","id":1,"method":"list"}]"#,
        expect![
            "a batch of messages, which MCP does not allow; Invalid request: a batch of messages; send each by itself (-32600)"
        ],
    );
    check(
        "[]",
        expect![
            "a batch of messages, which MCP does not allow; Invalid request: a batch of messages; send each by itself (-32600)"
        ],
    );
}

#[test]
fn what_is_not_json_is_refused_without_an_id() {
    check(
        "",
        expect![
            "not JSON: EOF while parsing a value at line 1 column 0; Parse error: EOF while parsing a value at line 1 column 0 (-32700)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list""#,
        expect![
            "not JSON: EOF while parsing an object at line 1 column 39; Parse error: EOF while parsing an object at line 1 column 39 (-32700)"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"list"} {}"#,
        expect![
            "not JSON: trailing characters at line 1 column 42; Parse error: trailing characters at line 1 column 42 (-32700)"
        ],
    );
    check(
        r#"[{"jsonrpc":"2.0""#,
        expect![
            "not JSON: EOF while parsing an object at line 1 column 17; Parse error: EOF while parsing an object at line 1 column 17 (-32700)"
        ],
    );
    check(
        "\u{feff}{}",
        expect![
            "not JSON: expected value at line 1 column 1; Parse error: expected value at line 1 column 1 (-32700)"
        ],
    );
}

#[test]
fn bytes_that_are_not_utf8_are_refused_wherever_they_stand() {
    let error =
        Typed::decode(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"list\",\"other\":\"\xff\"}");
    expect!["not UTF-8: invalid utf-8 sequence of 1 bytes from index 49; Parse error: invalid utf-8 sequence of 1 bytes from index 49 (-32700)"]
        .assert_eq(&refusal(&error.unwrap_err()));
}

#[test]
fn depth_is_bounded_where_text_is_skipped_or_kept() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let deepest = MAX_DEPTH - 2;
    for (levels, accepted) in [(deepest, true), (deepest + 1, false), (100_000, false)] {
        let kept = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{}}}}}"#,
            nested(levels)
        );
        assert_eq!(Message::raw(kept.as_bytes()).is_ok(), accepted, "{levels}");
        let skipped = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"list","other":[{}]}}"#,
            nested(levels)
        );
        assert_eq!(
            Typed::decode(skipped.as_bytes()).is_ok(),
            accepted,
            "{levels}"
        );
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}}}"#,
        nested(200)
    );
    expect!["not a message: nested more than 127 levels deep; Invalid request: nested more than 127 levels deep (-32600); answer Integer(1)"]
        .assert_eq(&refusal(&Message::raw(deep.as_bytes()).unwrap_err()));
}

#[test]
fn a_side_that_accepts_nothing_still_knows_what_it_was() {
    type Deaf<'a> = Message<'a, Nothing, Nothing, IgnoredAny>;
    let refused = Deaf::decode(br#"{"jsonrpc":"2.0","id":1,"method":"list"}"#).unwrap_err();
    expect!["unknown method `list`; Method not found: `list` (-32601); answer Integer(1)"]
        .assert_eq(&refusal(&refused));
    let refused = Deaf::decode(br#"{"jsonrpc":"2.0","method":"note"}"#).unwrap_err();
    expect!["unknown method `note`; Method not found: `note` (-32601)"]
        .assert_eq(&refusal(&refused));
    let ignored = Deaf::decode(br#"{"jsonrpc":"2.0","id":1,"result":{"a":{"b":[]}}}"#);
    assert!(matches!(ignored, Ok(Message::Result(_))));
    let refused = Deaf::decode(br#"{"jsonrpc":"2.0","id":1,"result":[]}"#).unwrap_err();
    expect!["the result is malformed: invalid type: sequence, expected anything at all at line 1 column 0; Invalid request (-32600); ends Integer(1)"].assert_eq(&refusal(&refused));
}

#[test]
fn a_revision_without_result_types_does_not_look_at_them() {
    type Old<'a> = Message<'a, Nothing, Nothing, Untagged<Complete>>;
    let answer =
        Old::decode(br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"?","content":[]}}"#);
    let Ok(Message::Result(response)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(response.result.0.extra["resultType"], "?");
}

#[test]
fn raw_payloads_are_kept_to_the_letter() {
    for (json, payload) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params": {"a" : 1e999} }"#,
            r#"{"a" : 1e999}"#,
        ),
        (
            r#"{"method":"m","params":{"b": 1},"jsonrpc":"2.0","id":1}"#,
            r#"{"b": 1}"#,
        ),
        (
            r#"{"method":"m","params":{"b": 2},"jsonrpc":"2.0"}"#,
            r#"{"b": 2}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"c":"\u0041"}}"#,
            r#"{"c":"\u0041"}"#,
        ),
    ] {
        let kept = match Message::raw(json.as_bytes()).unwrap() {
            Message::Request(request) => request.params,
            Message::Notification(notification) => notification.params,
            Message::Result(response) => Some(response.result),
            Message::Error(_) => None,
        };
        assert_eq!(kept.unwrap().get(), payload);
    }
}
