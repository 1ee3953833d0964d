//! From one message that is right to many that are wrong.

use serde_json::{Value, json};

/// Every value replaced by one of every other type.
pub(crate) fn wrong_types(message: &Value) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!("wrong"),
        json!([]),
        json!({}),
    ];
    let mut wrong = Vec::new();
    for path in paths(message) {
        for other in &others {
            let mut message = message.clone();
            let Some(place) = message.pointer_mut(&path) else {
                continue;
            };
            if std::mem::discriminant(place) != std::mem::discriminant(other) {
                *place = other.clone();
                wrong.push(message);
            }
        }
    }
    wrong
}

/// Every member and every element left out once.
pub(crate) fn left_out(message: &Value) -> Vec<Value> {
    let mut less = Vec::new();
    for path in paths(message) {
        let Some((parent, name)) = path.rsplit_once('/') else {
            continue;
        };
        let mut message = message.clone();
        match message.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.shift_remove(&name.replace("~1", "/").replace("~0", "~"));
            }
            Some(Value::Array(elements)) => {
                elements.remove(name.parse().unwrap_or(0));
            }
            _ => continue,
        }
        less.push(message);
    }
    less
}

/// Every member written twice, the second time with another value.
pub(crate) fn doubled(message: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    for path in paths(message) {
        let Some((parent, name)) = path.rsplit_once('/') else {
            continue;
        };
        let name = name.replace("~1", "/").replace("~0", "~");
        let mut message = message.clone();
        let Some(Value::Object(members)) = message.pointer_mut(parent) else {
            continue;
        };
        members.insert(MARK.to_owned(), json!("other"));
        let text = message.to_string();
        texts.push(text.replace(&format!("\"{MARK}\""), &json!(name).to_string()));
    }
    texts
}

/// The text cut off after every byte but the last.
pub(crate) fn cut_off(text: &str) -> Vec<Vec<u8>> {
    let bytes = text.as_bytes();
    (0..bytes.len()).map(|end| bytes[..end].to_vec()).collect()
}

/// Bytes that are no text, put in at every place.
pub(crate) fn no_text(text: &str) -> Vec<Vec<u8>> {
    let bytes = text.as_bytes();
    let broken: [&[u8]; 3] = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80"];
    let places = (0..=bytes.len()).step_by(7);
    places
        .zip(broken.into_iter().cycle())
        .map(|(at, broken)| [&bytes[..at], broken, &bytes[at..]].concat())
        .collect()
}

/// Values that no reader likes, written out.
pub(crate) fn nasty_values() -> Vec<String> {
    let mut values: Vec<String> = [10, 100, 127, 128, 129, 1000, 100_000]
        .into_iter()
        .flat_map(|depth| {
            [
                format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
                format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
                "[".repeat(depth),
            ]
        })
        .collect();
    let digits = "9".repeat(10_000);
    values.extend(
        [
            "1e400",
            "-1e400",
            "1e-400",
            "1E+99999999999999999999",
            "18446744073709551616",
            "-9223372036854775809",
            "9007199254740993",
            "0.1e1",
            "-0",
            "01",
            "+1",
            ".5",
            "1.",
            "0x10",
            "NaN",
            "Infinity",
            &digits,
            "\"\\ud800\"",
            "\"\\udc00\\ud800\"",
            "\"\\u0000\"",
            "\"\u{202e}\u{feff}\"",
            "\"\t\"",
            "\"\\x41\"",
            "'single'",
            "tru",
            "/* why */ 1",
            "1,",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "",
        ]
        .map(str::to_owned),
    );
    values
}

/// The pointer to every value, the whole first.
fn paths(message: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while at < found.len() {
        let path = found[at].clone();
        at += 1;
        match message.pointer(&path) {
            Some(Value::Object(members)) => found.extend(members.keys().map(|name| {
                let name = name.replace('~', "~0").replace('/', "~1");
                format!("{path}/{name}")
            })),
            Some(Value::Array(elements)) => {
                found.extend((0..elements.len()).map(|index| format!("{path}/{index}")));
            }
            _ => {}
        }
    }
    found
}

/// A name that no message has.
const MARK: &str = "~doubled~";
