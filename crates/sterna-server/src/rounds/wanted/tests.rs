//! The check on text against the general one: it accepts nothing that the general
//! one refuses, and all that derived types usually get.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::strict;
use crate::catalog::{Catalog, Tool, ToolEntry};
use crate::cx::Cx;
use crate::environment::States;

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Order {
    customer: String,
    #[schemars(length(min = 1, max = 4))]
    code: String,
    count: u8,
    #[schemars(range(min = 0.5, max = 2.5))]
    ratio: f64,
    /// Anything else
    note: Option<String>,
    colour: Colour,
    speed: Option<Speed>,
    items: Vec<Item>,
    delivery: Option<Delivery>,
    shape: Shape,
    payment: Payment,
    labels: BTreeMap<String, i32>,
    place: (u8, bool),
    floors: BTreeSet<u8>,
    #[serde(default)]
    is_gift: bool,
    parts: Tree,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    DarkGreen,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
enum Speed {
    /// Tomorrow
    Fast,
    /// Next week
    Slow,
    Any,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
struct Item {
    article: u32,
    price: f32,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Delivery {
    /// Where to
    street: String,
    floor: Option<i8>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
enum Shape {
    Circle { radius: f64 },
    Square(f64),
    Point,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(tag = "by", rename_all = "snake_case")]
enum Payment {
    Card { last: String },
    Cash,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Tree {
    name: String,
    children: Vec<Self>,
}

async fn order(_: Cx<'_>, _: Order) -> &'static str {
    "done"
}

fn entry(tool: Tool) -> Arc<ToolEntry> {
    let mut catalog = Catalog::default();
    catalog.put(tool.into(), &States::default()).unwrap();
    let mut names = catalog.tools.names();
    let entry = catalog.tools.get(names.next().unwrap());
    Arc::clone(entry.unwrap())
}

/// Texts that are valid and spelled as most clients spell them.
const USUAL: [&str; 3] = [
    r#"{"customer":"Ada","code":"x1","count":3,"ratio":1.25,"note":null,"colour":"dark_green","speed":"Fast","items":[{"article":7,"price":2.5},{"article":8,"price":3}],"delivery":{"street":"Main","floor":-2},"shape":{"Circle":{"radius":0.5}},"payment":{"by":"card","last":"4242"},"labels":{"a":1,"b":-2},"place":[1,true],"floors":[4],"is_gift":true,"parts":{"name":"r","children":[{"name":"s","children":[]}]}}"#,
    r#"{ "parts": { "children": [], "name": "line\nbreak \"quoted\" \u00e9" }, "customer": "Zoë 😀", "code": "äöü\t", "count": 0, "ratio": 2, "colour": "red", "items": [], "shape": "Point", "payment": {"by": "cash"}, "labels": {}, "place": [255, false], "floors": [] }"#,
    r#"{"customer":"","code":"a","count":255,"ratio":0.5,"note":"n","colour":"red","speed":null,"items":[{"price":0.25,"article":4294967295}],"delivery":null,"shape":{"Square":2},"payment":{"last":"1","by":"card"},"labels":{"x":2147483647},"place":[0,true],"floors":[0],"parts":{"name":"","children":[]},"more":"a member without a schema"}"#,
];

#[test]
fn usual_arguments_of_derived_types_are_accepted_on_their_text() {
    let entry = entry(Tool::new("order", "Orders", order));
    for text in USUAL {
        assert!(entry.input.accepts(text), "{text}");
        assert!(serde_json::from_str::<Order>(text).is_ok(), "{text}");
    }
}

#[test]
fn what_is_accepted_on_its_text_passes_every_other_check() {
    let entry = entry(Tool::new("order", "Orders", order));
    let mut random = Random(0x5eed);
    let (mut accepted, mut left) = (0, 0);
    for _ in 0..40_000 {
        let mut text = USUAL[random.below(USUAL.len())].to_owned();
        for _ in 0..=random.below(3) {
            text = mutate(&text, &mut random);
        }
        if !entry.input.accepts(&text) {
            left += 1;
            continue;
        }
        accepted += 1;
        let tree = strict::value(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let checked = entry.input.check_arguments("order", &tree);
        assert_eq!(checked, Ok(()), "{text}");
        let from_text = serde_json::from_str::<Order>(&text).ok();
        assert_eq!(from_text, Order::deserialize(&tree).ok(), "{text}");
    }
    assert!(accepted > 1000 && left > 1000, "{accepted} and {left}");
}

#[test]
fn unusual_spellings_and_doubled_members_are_left_to_the_general_check() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"n": {"type": "number"}, "s": {"type": "string"}},
    });
    let Value::Object(schema) = schema else {
        panic!("it is an object");
    };
    let tool = Tool::low_level("any", "Takes any", |_, _| async {
        Err::<_, &str>("never called")
    });
    let entry = entry(tool.input_schema(schema));
    assert!(entry.input.accepts(r#"{"n":1.5,"s":"\n","x":1}"#));
    for text in [
        r#"{"n":1,"n":1}"#,
        r#"{"x":1,"x":1}"#,
        r#"{"n":1,"\u006e":1}"#,
        r#"{"n":1e2}"#,
        r#"{"n":-0}"#,
        r#"{"n":01}"#,
        r#"{"n":1234567890123456}"#,
        r#"{"s":"\ud800"}"#,
        r#"{"s":"\x"}"#,
        r#"{"x":{"y":1}}"#,
        r#"{"n":1,}"#,
        r#"{"n":1"#,
        r#"{"n":1}}"#,
        r#"{"n""#,
        "",
    ] {
        assert!(!entry.input.accepts(text), "{text}");
    }
}

#[test]
fn alternatives_within_alternatives_take_no_time() {
    let schema = serde_json::json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {"anyOf": [
            {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["a"]},
            {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["b"]},
            {"type": "null"},
        ]}},
    });
    let check = sterna_form::TextCheck::new(&schema);
    let text = format!("{}null{}", r#"{"next":"#.repeat(40), "}".repeat(40));
    // Two to the power of forty steps would not end.
    assert!(!check.accepts(&text));
}

/// Takes a piece out, doubles it, or puts another in its place.
fn mutate(text: &str, random: &mut Random) -> String {
    let bytes = text.as_bytes();
    let start = random.below(bytes.len());
    let end = (start + random.below(12)).min(bytes.len());
    let piece = &bytes[start..end];
    let put: Vec<u8> = match random.below(4) {
        0 => Vec::new(),
        1 => piece.repeat(2),
        2 => PIECES[random.below(PIECES.len())].as_bytes().to_vec(),
        _ => [piece, PIECES[random.below(PIECES.len())].as_bytes()].concat(),
    };
    let mutated = [&bytes[..start], &put, &bytes[end..]].concat();
    String::from_utf8_lossy(&mutated).into_owned()
}

const PIECES: [&str; 32] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\n",
    "\\u0061",
    "\\ud83d",
    "0",
    "-",
    "-0",
    "1e3",
    ".5",
    "255",
    "256",
    "99999999999999999999",
    "null",
    "true",
    "false",
    "{}",
    "[]",
    " ",
    "\t",
    "\"Fast\"",
    "\"red\"",
    "\"count\":1,",
    "\"x\":2,",
    "\"b\":{\"a\":1},",
    "é",
];

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}
