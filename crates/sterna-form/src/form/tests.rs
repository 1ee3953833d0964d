use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sterna_protocol::elicitation::{ElicitAction, ElicitResult};

use super::{Arc, Form};

#[track_caller]
fn check<T: JsonSchema>(expected: Expect) {
    let shown = match Form::of::<T>() {
        Ok(form) => serde_json::to_string(&form.schema("answer")).unwrap(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown.replace(module_path!(), "crate"));
}

#[derive(Debug, JsonSchema, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    DarkGreen,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Channel {
    /// By mail
    Mail,
    /// Long explanation
    #[schemars(title = "By phone")]
    Phone,
    Pigeon,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Profile {
    /// How we call you
    #[schemars(length(min = 1, max = 40))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    #[schemars(email)]
    mail: Option<String>,
    #[serde(default)]
    newsletter: bool,
    colour: Colour,
    channels: BTreeSet<Channel>,
    score: Option<f64>,
}

#[test]
fn a_struct_is_a_form_in_the_order_of_its_fields() {
    check::<Profile>(expect![[
        r#"{"type":"object","properties":{"name":{"type":"string","description":"How we call you","minLength":1,"maxLength":40},"age":{"type":"integer","minimum":18,"maximum":99},"mail":{"type":"string","format":"email"},"newsletter":{"type":"boolean","default":false},"colour":{"type":"string","enum":["red","dark_green"]},"channels":{"type":"array","items":{"anyOf":[{"const":"Pigeon","title":"Pigeon"},{"const":"Mail","title":"By mail"},{"const":"Phone","title":"By phone"}]}},"score":{"type":"number"}},"required":["name","age","colour","channels"]}"#
    ]]);
}

#[test]
fn a_single_value_is_a_form_of_one_field_named_after_the_question() {
    check::<String>(expect![[
        r#"{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}"#
    ]]);
    check::<bool>(expect![[
        r#"{"type":"object","properties":{"answer":{"type":"boolean"}},"required":["answer"]}"#
    ]]);
    check::<i64>(expect![[
        r#"{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]}"#
    ]]);
    check::<Colour>(expect![[
        r#"{"type":"object","properties":{"answer":{"type":"string","enum":["red","dark_green"]}},"required":["answer"]}"#
    ]]);
    check::<Vec<Channel>>(expect![[
        r#"{"type":"object","properties":{"answer":{"type":"array","items":{"anyOf":[{"const":"Pigeon","title":"Pigeon"},{"const":"Mail","title":"By mail"},{"const":"Phone","title":"By phone"}]}}},"required":["answer"]}"#
    ]]);
    check::<Option<Colour>>(expect![[
        r#"{"type":"object","properties":{"answer":{"type":"string","enum":["red","dark_green"]}}}"#
    ]]);
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Nested {
    inner: Profile,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Listed {
    names: Vec<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Patterned {
    #[schemars(regex(pattern = "^a"))]
    code: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Shaped {
    shape: Shape,
}

#[test]
fn a_shape_that_no_form_can_show_is_refused_by_name() {
    check::<Nested>(expect![
        "`crate::Nested` cannot be a form: field `inner` is an object; a form is flat, so lift its members into the form"
    ]);
    check::<Listed>(expect![
        "`crate::Listed` cannot be a form: field `names` is a list; only a list of enum values can be a form field"
    ]);
    check::<Patterned>(expect![
        "`crate::Patterned` cannot be a form: field `code` uses `pattern`, which no form can show; check it in the handler and ask again"
    ]);
    check::<Shape>(expect![
        "`crate::Shape` cannot be a form: it is an enum whose variants carry data"
    ]);
    check::<Shaped>(expect![
        "`crate::Shaped` cannot be a form: field `shape` is an enum whose variants carry data"
    ]);
    check::<std::collections::BTreeMap<String, String>>(expect![
        "`alloc::collections::btree::map::BTreeMap<alloc::string::String, alloc::string::String>` cannot be a form: it is a map; a form needs fields whose names are known"
    ]);
    check::<serde_json::Value>(expect![
        "`serde_json::value::Value` cannot be a form: it has no single primitive type"
    ]);
    check::<(String, bool)>(expect![
        "`(alloc::string::String, bool)` cannot be a form: it is a list; only a list of enum values can be a form field"
    ]);
}

#[test]
fn an_answer_is_read_back_as_its_type() {
    let form = Form::of::<Option<Colour>>().unwrap();
    let content = serde_json::from_str(r#"{"answer":"dark_green"}"#).unwrap();
    assert!(matches!(
        form.read::<Option<Colour>>("answer", &content),
        Ok(Some(Colour::DarkGreen))
    ));
    let empty = serde_json::from_str("{}").unwrap();
    assert!(matches!(
        form.read::<Option<Colour>>("answer", &empty),
        Ok(None)
    ));
}

#[test]
fn forms_of_equal_digests_are_shown_alike() {
    let profile = Form::of::<Profile>().unwrap();
    assert!(!profile.needs_key());
    assert_eq!(profile.schema("a"), profile.schema("b"));
    let colour = Form::of::<Colour>().unwrap();
    assert!(colour.needs_key());
    assert_ne!(colour.schema("a"), colour.schema("b"));
    let other = Form::of::<Channel>().unwrap();
    let maybe = Form::of::<Option<Colour>>().unwrap();
    let again = Form::of::<Colour>().unwrap();
    assert_eq!(colour.digest(), again.digest());
    assert_ne!(colour.digest(), other.digest());
    assert_ne!(colour.digest(), maybe.digest());
}

#[test]
fn a_form_is_derived_once_for_each_type() {
    let (one, same) = (Form::known::<u8>().unwrap(), Form::known::<u8>().unwrap());
    assert!(Arc::ptr_eq(&one, &same));
    let other = Form::known::<bool>().unwrap();
    assert_ne!(one.schema("key"), other.schema("key"));
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Booking {
    /// How we call you
    #[schemars(length(min = 1, max = 4))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    #[schemars(email)]
    mail: Option<String>,
    #[serde(default)]
    news: bool,
    colour: Colour,
    channels: Vec<Channel>,
    score: Option<f64>,
}

/// The value that the careful way finds, in two steps.
fn read_carefully<T: DeserializeOwned>(form: &Form, key: &str, answer: &str) -> Option<T> {
    let result: ElicitResult = serde_json::from_str(answer).ok()?;
    if result.action != ElicitAction::Accept {
        return None;
    }
    let content = form.check(key, result.content.unwrap_or_default()).ok()?;
    form.read(key, &content).ok()
}

const USUAL: [&str; 3] = [
    r#"{"action":"accept","content":{"name":"Ada","age":36,"news":true,"colour":"red","channels":["Mail","Pigeon"],"score":0.5}}"#,
    r#"{ "content": { "channels": [], "age": 18, "colour": "dark_green", "name": "\"ä\n😀", "news": false, "score": 3 }, "action": "accept" }"#,
    r#"{"action":"accept","content":{"answer":"Phone"}}"#,
];

#[test]
fn usual_answers_are_read_from_their_text() {
    let booking = Form::of::<Booking>().unwrap();
    for text in &USUAL[..2] {
        let read: Option<Booking> = booking.read_accepted("booking", text);
        assert!(read.is_some(), "{text}");
    }
    let channel = Form::of::<Channel>().unwrap();
    let read = channel.read_accepted("answer", USUAL[2]);
    assert_eq!(read, Some(Channel::Phone));
}

#[test]
fn what_is_read_from_text_is_what_the_careful_way_finds() {
    let booking = Form::of::<Booking>().unwrap();
    let channel = Form::of::<Channel>().unwrap();
    let mut seed = 0x5eed_u64;
    let mut below = |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % limit as u64).unwrap()
    };
    let mut read = 0;
    for _ in 0..60_000 {
        let bytes = USUAL[below(USUAL.len())].as_bytes();
        let start = below(bytes.len());
        let end = (start + below(9)).min(bytes.len());
        let piece = PIECES[below(PIECES.len())].as_bytes();
        let put = match below(3) {
            0 => bytes[start..end].repeat(2),
            _ => piece.to_vec(),
        };
        let mutated = [&bytes[..start], &put, &bytes[end..]].concat();
        let text = String::from_utf8_lossy(&mutated);
        if let Some(value) = booking.read_accepted::<Booking>("booking", &text) {
            read += 1;
            let carefully = read_carefully(&booking, "booking", &text);
            assert_eq!(carefully, Some(value), "{text}");
        }
        if let Some(value) = channel.read_accepted::<Channel>("answer", &text) {
            read += 1;
            let carefully = read_carefully(&channel, "answer", &text);
            assert_eq!(carefully, Some(value), "{text}");
        }
    }
    assert!(read > 1000, "{read}");
}

const PIECES: [&str; 20] = [
    "",
    "{",
    "}",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0061",
    "0",
    "1e1",
    ".5",
    "-0",
    "null",
    "true",
    " ",
    "\"Mail\"",
    "\"age\":20,",
    "\"x\":1,",
    "é",
];

#[test]
fn answers_that_need_more_than_reading_are_left_to_the_careful_way() {
    let booking = Form::of::<Booking>().unwrap();
    for text in [
        r#"{"action":"decline"}"#,
        r#"{"action":"accept"}"#,
        // A default is to be filled in.
        r#"{"action":"accept","content":{"name":"A","age":36,"colour":"red","channels":[]}}"#,
        // A format is to be checked.
        r#"{"action":"accept","content":{"name":"A","age":36,"news":true,"colour":"red","channels":[],"mail":"a@b.example"}}"#,
        r#"{"action":"accept","content":{"name":"A","age":36,"news":true,"colour":"red","channels":[]},"_meta":{}}"#,
    ] {
        assert_eq!(booking.read_accepted::<Booking>("booking", text), None);
    }
}
