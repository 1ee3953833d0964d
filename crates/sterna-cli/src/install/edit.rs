//! A change of one entry in a JSON file that leaves every other byte as it is.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::ser::PrettyFormatter;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A text after a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// The new text, and the entry that was there before.
    Changed {
        text: String,
        replaced: Option<Value>,
    },
    /// The entry is there already.
    Unchanged,
}

/// A text that cannot be changed without a loss.
#[derive(Debug)]
pub(super) enum EditError {
    /// The change would have changed more than the entry.
    Layout,
    /// The member that should hold objects holds something else.
    NoObject(String),
    /// Comments, for example.
    NotJson(serde_json::Error),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout => f.write_str("its layout is not understood"),
            Self::NoObject(member) => write!(f, "{member} in it is not an object"),
            Self::NotJson(_) => {
                f.write_str("it is not plain JSON, perhaps because it has comments")
            }
        }
    }
}

impl Error for EditError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotJson(cause) => Some(cause),
            Self::Layout | Self::NoObject(_) => None,
        }
    }
}

/// Sets `name` in the object `member` of the object in `text` to `entry`. An empty
/// text is an empty object.
pub(super) fn set(
    text: &str,
    member: &str,
    name: &str,
    entry: &Value,
) -> Result<Edited, EditError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let before: Value = serde_json::from_str(text).map_err(EditError::NotJson)?;
    let servers = match &before {
        Value::Object(top) => top.get(member),
        _ => return Err(EditError::NoObject("the outermost value".to_owned())),
    };
    let replaced = match servers {
        None => None,
        Some(Value::Object(servers)) => servers.get(name).cloned(),
        Some(_) => return Err(EditError::NoObject(format!("`{member}`"))),
    };
    if replaced.as_ref() == Some(entry) {
        return Ok(Edited::Unchanged);
    }
    let layout = Layout::of(text);
    let start = text.len() - text.trim_start().len();
    let top = Object::read(text, start..text.trim_end().len())?;
    let changed = match top.value(member) {
        None => {
            let servers = Value::Object(Map::from_iter([(name.to_owned(), entry.clone())]));
            top.with(text, member, &layout.written(&servers, 1), layout, 1)
        }
        Some(range) => {
            let servers = Object::read(text, range)?;
            servers.with(text, name, &layout.written(entry, 2), layout, 2)
        }
    };
    match serde_json::from_str::<Value>(&changed) {
        Ok(after) if after == expected(before, member, name, entry) => Ok(Edited::Changed {
            text: changed,
            replaced,
        }),
        _ => Err(EditError::Layout),
    }
}

/// The value that the changed text must have.
fn expected(mut before: Value, member: &str, name: &str, entry: &Value) -> Value {
    if let Value::Object(top) = &mut before {
        let servers = top
            .entry(member)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(servers) = servers {
            servers.insert(name.to_owned(), entry.clone());
        }
    }
    before
}

/// An object in a text: where it is, and where its values are.
struct Object {
    range: Range<usize>,
    values: Vec<(String, Range<usize>)>,
}

impl Object {
    fn read(text: &str, range: Range<usize>) -> Result<Self, EditError> {
        let inside = text.get(range.clone()).ok_or(EditError::Layout)?;
        let members: Members<'_> = serde_json::from_str(inside).map_err(EditError::NotJson)?;
        let place = |value: &RawValue| {
            // A borrowed value is a part of the text that it was read from.
            let at = value.get().as_ptr().addr() - text.as_ptr().addr();
            at..at + value.get().len()
        };
        let values = members.0.into_iter();
        Ok(Self {
            range,
            values: values.map(|(key, value)| (key, place(value))).collect(),
        })
    }

    /// The place of a value; of the last one, as readers of JSON have it.
    fn value(&self, key: &str) -> Option<Range<usize>> {
        let mut found = self.values.iter().rev();
        let (_, range) = found.find(|(each, _)| each == key)?;
        Some(range.clone())
    }

    /// The whole text, with the value of `key` in this object, `depth` levels deep,
    /// being `value`.
    fn with(&self, text: &str, key: &str, value: &str, layout: Layout<'_>, depth: usize) -> String {
        let key_text = Value::from(key).to_string();
        let (replaced, new) = match (self.value(key), self.values.last()) {
            (Some(place), _) => (place, value.to_owned()),
            (None, Some((_, last))) => {
                let line = layout.line(depth);
                (last.end..last.end, format!(",{line}{key_text}: {value}"))
            }
            (None, None) => {
                let (line, end) = (layout.line(depth), layout.line(depth - 1));
                let new = format!("{{{line}{key_text}: {value}{end}}}");
                (self.range.clone(), new)
            }
        };
        let mut changed = text.to_owned();
        changed.replace_range(replaced, &new);
        changed
    }
}

/// The members of an object, in order, each as it is written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// Line ends and indentation of a text.
#[derive(Clone, Copy)]
struct Layout<'a> {
    line_end: &'a str,
    indent: &'a str,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str) -> Self {
        let is_one_line = !text.trim_end().contains('\n') && text.trim() != "{}";
        let indented = text.lines().find_map(|line| {
            let rest = line.trim_start();
            let indent = &line[..line.len() - rest.len()];
            (!indent.is_empty() && rest.starts_with('"')).then_some(indent)
        });
        Self {
            line_end: match text.contains("\r\n") {
                _ if is_one_line => "",
                true => "\r\n",
                false => "\n",
            },
            indent: match is_one_line {
                true => "",
                false => indented.unwrap_or("  "),
            },
        }
    }

    /// The beginning of a line, `depth` levels deep; a blank where a text has one line.
    fn line(self, depth: usize) -> String {
        match self.line_end {
            "" => " ".to_owned(),
            end => end.to_owned() + &self.indent.repeat(depth),
        }
    }

    /// A value whose first line is `depth` levels deep.
    fn written(self, value: &Value, depth: usize) -> String {
        if self.line_end.is_empty() {
            return value.to_string();
        }
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.indent.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        let written = serde::Serialize::serialize(value, &mut writer).is_ok();
        match String::from_utf8(bytes) {
            Ok(text) if written => text.replace('\n', &self.line(depth)),
            _ => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn edited(text: &str) -> String {
        let entry = json!({"command": "/bin/new", "args": ["a"]});
        match set(text, "mcpServers", "new", &entry) {
            Ok(Edited::Changed { text, .. }) => text,
            Ok(Edited::Unchanged) => "unchanged".to_owned(),
            Err(error) => format!("error: {error}"),
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let after = edited(text);
        expected.assert_eq(&after);
        if !after.starts_with("error") {
            assert_eq!(edited(&after), "unchanged");
        }
    }

    #[test]
    fn an_empty_file_gets_the_entry() {
        let expected = expect![[r#"
            {
              "mcpServers": {
                "new": {
                  "command": "/bin/new",
                  "args": [
                    "a"
                  ]
                }
              }
            }
        "#]];
        for text in ["", "{}\n", "{}", "\n"] {
            let after = edited(text);
            expected.assert_eq(&(after.trim_end().to_owned() + "\n"));
        }
    }

    #[test]
    fn everything_else_keeps_its_layout() {
        check(
            "{\n    \"theme\":   [1,2,  3],\n    \"mcpServers\": {\n        \"old\": {\"command\": \"x\"}\n    },\n    \"n\": 1e2\n}\n",
            expect![[r#"
                {
                    "theme":   [1,2,  3],
                    "mcpServers": {
                        "old": {"command": "x"},
                        "new": {
                            "command": "/bin/new",
                            "args": [
                                "a"
                            ]
                        }
                    },
                    "n": 1e2
                }
            "#]],
        );
        check(
            "{\n\t\"mcpServers\": {},\n\t\"a\": \"}\\\"{\"\n}",
            expect![[r#"
                {
                	"mcpServers": {
                		"new": {
                			"command": "/bin/new",
                			"args": [
                				"a"
                			]
                		}
                	},
                	"a": "}\"{"
                }"#]],
        );
    }

    #[test]
    fn an_entry_of_the_name_is_replaced_where_it_is() {
        check(
            "{\n  \"mcpServers\": {\n    \"new\": {\"url\": \"http://x\"},\n    \"z\": {}\n  }\n}\n",
            expect![[r#"
                {
                  "mcpServers": {
                    "new": {
                      "command": "/bin/new",
                      "args": [
                        "a"
                      ]
                    },
                    "z": {}
                  }
                }
            "#]],
        );
        let text = r#"{"mcpServers":{"new":1}}"#;
        let Ok(Edited::Changed { replaced, .. }) = set(text, "mcpServers", "new", &json!(2)) else {
            panic!("it was not changed");
        };
        assert_eq!(replaced, Some(json!(1)));
    }

    #[test]
    fn one_line_stays_one_line() {
        check(
            r#"{"a":1}"#,
            expect![[r#"{"a":1, "mcpServers": {"new":{"command":"/bin/new","args":["a"]}}}"#]],
        );
    }

    #[test]
    fn windows_line_ends_stay() {
        let after = edited("{\r\n  \"a\": 1\r\n}\r\n");
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
        assert_eq!(edited(&after), "unchanged");
    }

    #[test]
    fn the_last_of_two_members_with_one_name_counts() {
        let after = edited("{\n  \"mcpServers\": {\"a\": {}},\n  \"mcpServers\": {\"b\": {}}\n}");
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value["mcpServers"]["new"]["command"], "/bin/new");
        assert!(after.contains("{\"a\": {}}"), "{after}");
    }

    #[test]
    fn a_file_that_would_lose_something_is_refused() {
        check(
            "{\n  // mine\n  \"mcpServers\": {}\n}",
            expect!["error: it is not plain JSON, perhaps because it has comments"],
        );
        check(
            "{\"mcpServers\": {},}",
            expect!["error: it is not plain JSON, perhaps because it has comments"],
        );
        check(
            "[]",
            expect!["error: the outermost value in it is not an object"],
        );
        check(
            r#"{"mcpServers": []}"#,
            expect!["error: `mcpServers` in it is not an object"],
        );
    }
}
