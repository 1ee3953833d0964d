use expect_test::{Expect, expect};
use serde::ser::{Error as _, Serialize, Serializer};
use sterna_protocol::jsonrpc::{
    ErrorCode, ErrorObject, ErrorResponse, Message, Notification, Request, RequestId,
    ResultResponse,
};

#[track_caller]
fn check(encode: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>, expected: Expect) {
    let mut buffer = b"> ".to_vec();
    if let Err(error) = encode(&mut buffer) {
        buffer.extend_from_slice(error.to_string().as_bytes());
    }
    expected.assert_eq(str::from_utf8(&buffer).unwrap());
}

#[test]
fn each_kind_of_message_is_written_behind_what_is_there() {
    let params = serde_json::json!({"a": 1});
    check(
        |b| Request::new(1.into(), "m", &params).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#]],
    );
    check(
        |b| Request::new("\"q\"".into(), "m\n", Some(&params)).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","id":"\"q\"","method":"m\n","params":{"a":1}}"#]],
    );
    check(
        |b| Notification::new("n", &params).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","method":"n","params":{"a":1}}"#]],
    );
    check(
        |b| ResultResponse::new(1.into(), &params).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","id":1,"result":{"a":1}}"#]],
    );
    let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, "no");
    check(
        |b| ErrorResponse::new(RequestId::from(1), error.clone()).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#]],
    );
    check(
        |b| ErrorResponse::new(None, error).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","error":{"code":-32602,"message":"no"}}"#]],
    );
}

#[test]
fn params_that_are_nothing_are_left_out() {
    check(
        |b| Request::new(1.into(), "m", None::<u8>).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","id":1,"method":"m"}"#]],
    );
    check(
        |b| Notification::new("n", ()).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","method":"n"}"#]],
    );
    let tail = serde_json::json!({"last": null});
    check(
        |b| Notification::new("n", &tail).encode(b),
        expect![[r#"> {"jsonrpc":"2.0","method":"n","params":{"last":null}}"#]],
    );
}

#[test]
fn a_payload_that_cannot_be_written_leaves_the_buffer_alone() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("broken"))
        }
    }
    check(
        |b| Request::new(1.into(), "m", [Broken]).encode(b),
        expect!["> broken"],
    );
}

#[test]
fn a_raw_message_is_written_as_it_was_read() {
    for json in [
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a" : 1.50}}"#,
        r#"{"jsonrpc":"2.0","id":"","method":"m"}"#,
        r#"{"jsonrpc":"2.0","method":"n","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":-1,"result":{"a":null}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":null}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
    ] {
        let mut buffer = Vec::new();
        Message::raw(json.as_bytes())
            .unwrap()
            .encode(&mut buffer)
            .unwrap();
        assert_eq!(str::from_utf8(&buffer).unwrap(), json);
    }
}
