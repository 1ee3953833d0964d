//! The reader agrees with the slow reference on input of every kind.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, proptest};
use proptest::sample::{Index, select};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sterna_protocol::jsonrpc::{DecodeError, ErrorObject, Message, RequestId};

use super::calls::{Complete, Echo, List, Note, Open, Typed};
use super::reference::{self, Side, Verdict};

const RAW: Side = Side {
    request: |_, params| Some(kept(params)),
    notification: |_, params| Some(kept(params)),
    result: |result| Some(Value::Object(result.clone())),
};

const TYPED: Side = Side {
    request: |method, params| match method {
        "echo" => Some(params.filter(|p| p.is_object()).and_then(through::<Echo>)),
        "list" => Some(match params {
            None => Some(Value::Null),
            Some(params) => Some(params)
                .filter(|p| p.is_object())
                .and_then(through::<List>),
        }),
        _ => None,
    },
    notification: |method, params| match (method, params) {
        ("note", None) => Some(through::<Note>(&Value::Object(Map::new()))),
        ("note", Some(params)) => Some(
            Some(params)
                .filter(|p| p.is_object())
                .and_then(through::<Note>),
        ),
        _ => None,
    },
    result: |result| {
        let whole = Value::Object(result.clone());
        match result.get("resultType").map(Value::as_str) {
            None | Some(Some("complete")) => through::<Complete>(&whole),
            Some(Some("open")) => through::<Open>(&whole),
            Some(_) => None,
        }
    },
};

fn kept(params: Option<&Value>) -> Option<Value> {
    match params {
        None => Some(Value::Null),
        Some(params) => Some(params.clone()).filter(Value::is_object),
    }
}

fn through<T: DeserializeOwned + Serialize>(value: &Value) -> Option<Value> {
    let typed: T = serde_json::from_value(value.clone()).ok()?;
    Some(serde_json::to_value(typed).unwrap())
}

fn verdict<R: Serialize, N: Serialize, A: Serialize>(
    outcome: Result<Message<'_, R, N, A>, DecodeError>,
) -> Verdict {
    let value = |id: &RequestId| serde_json::to_value(id).unwrap();
    match outcome {
        Ok(Message::Request(request)) => Verdict::Request(
            value(&request.id),
            request.method.into_owned(),
            serde_json::to_value(request.params).unwrap(),
        ),
        Ok(Message::Notification(notification)) => Verdict::Notification(
            notification.method.into_owned(),
            serde_json::to_value(notification.params).unwrap(),
        ),
        Ok(Message::Result(response)) => Verdict::Result(
            value(&response.id),
            serde_json::to_value(response.result).unwrap(),
        ),
        Ok(Message::Error(response)) => Verdict::Error(
            response.id.as_ref().map(value),
            serde_json::to_value(response.error).unwrap(),
        ),
        Err(error) => Verdict::Refused {
            code: ErrorObject::from(&error).code.0,
            answer: error.request_id().map(value),
            ends: error.response_id().map(value),
        },
    }
}

fn both_agree(bytes: &[u8]) -> Result<(), proptest::test_runner::TestCaseError> {
    let shown = String::from_utf8_lossy(bytes);
    if let Some(expected) = reference::read(bytes, &RAW) {
        prop_assert_eq!(verdict(Message::raw(bytes)), expected, "raw: {}", shown);
    }
    if let Some(expected) = reference::read(bytes, &TYPED) {
        prop_assert_eq!(verdict(Typed::decode(bytes)), expected, "typed: {}", shown);
    }
    Ok(())
}

const MEMBERS: &[(&str, &[&str])] = &[
    (
        "jsonrpc",
        &[
            r#""2.0""#, r#""2.0""#, r#""2.0""#, r#""2.0""#, r#""2""#, "2.0",
        ],
    ),
    (
        "id",
        &[
            "1",
            r#""a""#,
            "-7",
            "3.0",
            "1e2",
            "null",
            "1.5",
            "[]",
            "18446744073709551615",
        ],
    ),
    (
        "method",
        &[
            r#""echo""#,
            r#""list""#,
            r#""note""#,
            r#""\u006eote""#,
            r#""gone""#,
            "1",
        ],
    ),
    (
        "params",
        &[
            r#"{"text":"t"}"#,
            r#"{"times":3,"text":"\u00e9"}"#,
            r#"{"cursor":null,"text":""}"#,
            r#"{"level":-1}"#,
            "{}",
            r#"{"text":5}"#,
            r#"["t",3]"#,
            "null",
        ],
    ),
    (
        "result",
        &[
            r#"{"resultType":"complete","content":[{"a":1.5}]}"#,
            r#"{"content":[]}"#,
            r#"{"_meta":{},"state":"s","resultType":"open","content":0}"#,
            r#"{"state":"s","resultType":"else"}"#,
            r#"{"resultType":null}"#,
            "[]",
        ],
    ),
    (
        "error",
        &[
            r#"{"code":1,"message":"m"}"#,
            r#"{"message":"m","code":-32000,"data":[null],"more":{}}"#,
            r#"{"code":"1","message":"m"}"#,
            r#"{"code":1}"#,
            r#"[1,"m"]"#,
        ],
    ),
    ("trace", &["{}", r#""\"id\":1""#]),
];

fn member() -> impl Strategy<Value = String> {
    let pair = select(MEMBERS).prop_flat_map(|(name, values)| (name_of(name), select(values)));
    pair.prop_map(|(name, value)| format!("{name}:{value}"))
}

/// A name, now and then spelt with an escape.
fn name_of(name: &'static str) -> impl Strategy<Value = String> {
    (0..8).prop_map(move |n| match n {
        0 => format!("\"\\u{:04x}{}\"", u32::from(name.as_bytes()[0]), &name[1..]),
        _ => format!("\"{name}\""),
    })
}

fn envelope() -> impl Strategy<Value = String> {
    let gap = select(&["", "", "", " ", "\r\n\t"][..]);
    (vec(member(), 0..7), gap).prop_map(|(mut members, gap)| {
        // Most messages carry the version, or few would get past it.
        if members.len() != 6 {
            members.insert(members.len() / 2, r#""jsonrpc":"2.0""#.to_owned());
        }
        format!("{gap}{{{}}}{gap}", members.join(&format!("{gap},{gap}")))
    })
}

#[derive(Clone, Debug)]
enum Edit {
    Cut(Index),
    Insert(Index, u8),
    Remove(Index),
    Replace(Index, u8),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |index: &Index| index.index(bytes.len() + 1);
        match self {
            Self::Cut(index) => bytes.truncate(place(index)),
            Self::Insert(index, byte) => bytes.insert(place(index), *byte),
            Self::Remove(index) if place(index) < bytes.len() => {
                bytes.remove(place(index));
            }
            Self::Replace(index, byte) if place(index) < bytes.len() => {
                let place = place(index);
                bytes[place] = *byte;
            }
            Self::Remove(_) | Self::Replace(..) => {}
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let byte = select(&b"{}[]\",:0123456789.eE+-\\ntu \n\x00\x7f\xc3\xa9\xff"[..]);
    (0..10, any::<Index>(), byte).prop_map(|(kind, index, byte)| match kind {
        0 => Edit::Cut(index),
        1..=3 => Edit::Insert(index, byte),
        4..=6 => Edit::Remove(index),
        _ => Edit::Replace(index, byte),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn the_reader_agrees_with_the_reference_on_any_envelope(text in envelope()) {
        both_agree(text.as_bytes())?;
    }

    #[test]
    fn the_reader_agrees_with_the_reference_on_mutated_input(
        text in envelope(),
        edits in vec(edit(), 1..4),
    ) {
        let mut bytes = text.into_bytes();
        for edit in edits {
            edit.apply(&mut bytes);
        }
        both_agree(&bytes)?;
    }
}
