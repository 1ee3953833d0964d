//! The check of derived schemas against the general one: both find the same
//! values valid, and errors at the same places of the others.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use sterna_form::TextCheck;

use super::{Errors, GeneralCheck};

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Order {
    #[schemars(length(min = 1, max = 4))]
    code: String,
    count: u8,
    #[schemars(range(min = 0.5, max = 2.5))]
    ratio: f64,
    note: Option<String>,
    speed: Option<Speed>,
    #[schemars(length(max = 3))]
    items: Vec<Item>,
    shape: Shape,
    payment: Payment,
    value: Untagged,
    labels: BTreeMap<String, i32>,
    place: (u8, bool),
    floors: BTreeSet<u8>,
    parts: Option<Box<Tree>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum Speed {
    /// Tomorrow
    Fast,
    Slow,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Item {
    article: u32,
    price: f32,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum Shape {
    Circle { radius: f64 },
    Square(f64),
    Point,
}

#[derive(JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Payment {
    Card { last: String },
    Cash,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Untagged {
    Number(f64),
    Text(String),
    Pair { left: u8, right: u8 },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Tree {
    name: String,
    children: Vec<Self>,
}

fn valid() -> Value {
    json!({
        "code": "x1", "count": 3, "ratio": 1.25, "note": null, "speed": "Fast",
        "items": [{"article": 7, "price": 2.5}, {"article": 8, "price": 3}],
        "shape": {"Circle": {"radius": 0.5}}, "payment": {"by": "card", "last": "4242"},
        "value": {"left": 1, "right": 2}, "labels": {"a": 1, "b": -2}, "place": [1, true],
        "floors": [4, 5], "parts": {"name": "r", "children": [{"name": "s", "children": []}]},
    })
}

#[test]
fn both_checks_find_the_same_values_valid_and_the_same_places_of_the_others() {
    let schema: Value = schemars::schema_for!(Order).into();
    let Value::Object(mut schema) = schema else {
        panic!("it is an object");
    };
    schema.remove("$schema");
    let schema = Value::Object(schema);
    let known = TextCheck::new(&schema);
    assert_eq!(known.unknown_keyword(), None);
    let general = GeneralCheck::new(&schema, "").unwrap();
    let mut random = Random(0x5eed);
    let mut invalid = 0;
    for _ in 0..20_000 {
        let mut value = valid();
        for _ in 0..=random.below(3) {
            mutate(&mut value, &mut random);
        }
        let ours = known.errors(&value, usize::MAX);
        let Errors::Found(theirs) = general.errors(&value, usize::MAX) else {
            panic!("it has few places");
        };
        assert_eq!(
            ours.is_empty(),
            theirs.is_empty(),
            "{value}\n{ours:?}\n{theirs:?}"
        );
        invalid += usize::from(!ours.is_empty());
        let [ours, theirs] = [ours, theirs].map(|errors| {
            let places = errors.into_iter().map(|error| error.path);
            places.collect::<BTreeSet<_>>()
        });
        assert_eq!(ours, theirs, "{value}");
    }
    assert!((2000..18_000).contains(&invalid), "{invalid}");
}

#[test]
fn very_many_wrong_values_make_few_errors() {
    let schema = json!({"items": {"type": "string", "pattern": "^a"}});
    let general = GeneralCheck::new(&schema, "pattern").unwrap();
    let value = json!(vec![1; 100_000]);
    let mut found = 0;
    let cost = allocation_counter::measure(|| {
        if let Errors::Found(errors) = general.errors(&value, 5) {
            found = errors.len();
        }
    });
    assert_eq!(found, 1);
    assert!(cost.bytes_max < 1 << 20, "{} KiB", cost.bytes_max >> 10);
}

/// Replaces, removes or adds a part of `value`.
fn mutate(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(members) if !members.is_empty() && random.below(8) > 0 => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = &names[random.below(names.len())];
            match random.below(8) {
                0 => {
                    members.remove(name);
                }
                1 => {
                    members.insert("other".to_owned(), any(random));
                }
                _ => mutate(&mut members[name], random),
            }
        }
        Value::Array(items) if !items.is_empty() && random.below(8) > 0 => {
            let at = random.below(items.len());
            match random.below(8) {
                0 => {
                    items.remove(at);
                }
                1 => items.push(items[at].clone()),
                2 => items.push(any(random)),
                _ => mutate(&mut items[at], random),
            }
        }
        value => *value = any(random),
    }
}

fn any(random: &mut Random) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.0),
        json!(2.5),
        json!(255),
        json!(256),
        json!(4_294_967_296_u64),
        json!(1e300),
        json!(""),
        json!("Fast"),
        json!("Point"),
        json!("rooibos"),
        json!([]),
        json!([1, 1.0]),
        json!({}),
        Value::Object(Map::from_iter([("by".to_owned(), json!("cash"))])),
        json!({"Square": 2}),
        json!({"left": 1, "right": 2}),
    ];
    all[random.below(all.len())].clone()
}

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("it is below `limit`")
    }
}
