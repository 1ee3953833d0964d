//! The memory that a JSON text takes once it is parsed.

use serde_json::Value;

/// Estimates the bytes that `json` takes as a [`Value`] and in the type that a
/// handler reads from it, without parsing it.
///
/// Brackets are the expensive part: `[1]` is three bytes of text and a vector
/// of four values. What is in a string costs its length only. A text that is no
/// JSON gets some number; its reader will refuse it.
pub fn weigh(json: &[u8]) -> usize {
    let text = json.len().saturating_mul(2);
    // Marks are counted sixteen at once, telling those in strings from the
    // others byte by byte; so the second is done only where it matters.
    let most = text.saturating_add(marks(json).saturating_mul(OBJECT));
    match most <= FEW {
        true => most,
        false => text.saturating_add(structure(json)),
    }
}

/// The bytes that may begin a value, in strings or not.
fn marks(json: &[u8]) -> usize {
    let is_mark = |byte: u8| matches!(byte, b'[' | b'{' | b',' | b':');
    // A chunk's count fits a byte.
    let chunks = json.chunks(255);
    chunks
        .map(|chunk| {
            usize::from(
                chunk
                    .iter()
                    .map(|&byte| u8::from(is_mark(byte)))
                    .sum::<u8>(),
            )
        })
        .sum()
}

/// Memory of the values outside of strings.
fn structure(json: &[u8]) -> usize {
    let mut size = 0_usize;
    // One bit for each level, set for an object. What is deeper than this many
    // levels is refused when it is read.
    let mut objects = 0_u128;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        let cost = match byte {
            b'"' => {
                skip_string(&mut bytes);
                continue;
            }
            b'[' => {
                objects <<= 1;
                LIST
            }
            b'{' => {
                objects = objects << 1 | 1;
                OBJECT
            }
            b']' | b'}' => {
                objects >>= 1;
                continue;
            }
            b',' if objects & 1 == 0 => ITEM,
            b':' => MEMBER,
            _ => continue,
        };
        size = size.saturating_add(cost);
    }
    size
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

const VALUE: usize = size_of::<Value>();

/// A name, its hash and its place in the index.
const ENTRY: usize = VALUE + size_of::<String>() + 24;

/// A vector begins with room for four.
const LIST: usize = 4 * VALUE + 16;

/// A vector that grows has up to twice the room it needs. A short text is an
/// allocation of its own.
const ITEM: usize = VALUE + VALUE / 2 + 16;

/// An object begins with a table and room for three.
const OBJECT: usize = 2 * ENTRY + 64;

const MEMBER: usize = ENTRY + ENTRY / 2 + 32;

/// As much as need not be known exactly.
const FEW: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use allocation_counter::measure;

    use super::*;

    /// The estimate for `json` and what parsing it really takes.
    fn check(json: &str) -> (usize, usize) {
        let mut value = Value::Null;
        let cost = measure(|| value = serde_json::from_str(json).unwrap());
        drop(value);
        (
            weigh(json.as_bytes()),
            usize::try_from(cost.bytes_max).unwrap(),
        )
    }

    #[test]
    fn an_estimate_is_not_far_from_what_parsing_takes() {
        let many = 20_000;
        let nested = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let object = |members: usize| {
            let members = (0..members).map(|number| format!("\"m{number}\":{number}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        for (what, json) in [
            ("empty lists", format!("[{}0]", "[],".repeat(many))),
            ("lists of one", format!("[{}0]", "[1],".repeat(many))),
            (
                "lists in lists",
                format!("[{}0]", (nested + ",").repeat(many / 100)),
            ),
            ("numbers", format!("[{}0]", "123456,".repeat(many))),
            ("texts", format!("[{}0]", "\"one, two: [\",".repeat(many))),
            (
                "objects",
                format!("[{}0]", (object(2) + ",").repeat(many / 2)),
            ),
            ("a large object", object(many)),
            ("a long text", format!("\"{}\"", "[,".repeat(many * 50))),
        ] {
            let (estimate, real) = check(&json);
            assert!(2 * estimate > real, "{what}: {estimate}, but {real}");
            assert!(estimate < 8 * real, "{what}: {estimate}, but {real}");
        }
    }

    #[test]
    fn nonsense_is_weighed_too() {
        for json in [
            "",
            "]]]]",
            "\"",
            "\"\\",
            "{\"a\\\"[[[",
            &"{[".repeat(100_000),
        ] {
            let _ = weigh(json.as_bytes());
        }
    }
}
