//! JSON objects that strangers send, read field by field.

use serde_json::{Map, Value};

use crate::error::Fault;
use crate::secret::Secret;

/// A parsed object whose fields are checked when they are asked for.
///
/// Errors name the field and never its value: it may be a token. A field that
/// is `null` counts as absent.
pub(crate) struct Document(Map<String, Value>);

impl Document {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Fault> {
        // The parser gives up at 128 levels, so depth is bounded as well as size.
        serde_json::from_slice(body)
            .map(Self)
            .map_err(|_| Fault::NotJson)
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<Option<&str>, Fault> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Fault::Field {
                name,
                expected: "a string",
            }),
        }
    }

    pub(crate) fn required(&self, name: &'static str) -> Result<&str, Fault> {
        self.text(name)?.ok_or(Fault::Field {
            name,
            expected: "present",
        })
    }

    /// Takes a string out without copying it, so that no copy stays behind.
    pub(crate) fn secret(&mut self, name: &'static str) -> Result<Option<Secret>, Fault> {
        self.text(name)?;
        Ok(match self.0.remove(name) {
            Some(Value::String(text)) => Some(Secret::from(text)),
            _ => None,
        })
    }

    pub(crate) fn texts(&self, name: &'static str) -> Result<Option<Vec<&str>>, Fault> {
        let not_a_list = Fault::Field {
            name,
            expected: "a list of strings",
        };
        match self.value(name) {
            None => Ok(None),
            Some(Value::Array(items)) => items
                .iter()
                .map(Value::as_str)
                .collect::<Option<_>>()
                .map(Some)
                .ok_or(not_a_list),
            Some(_) => Err(not_a_list),
        }
    }

    /// An absent flag is `false`, as every flag of the OAuth documents defaults to.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, Fault> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Fault::Field {
                name,
                expected: "true or false",
            }),
        }
    }

    /// A number of seconds; some servers send it as a string or with a fraction.
    pub(crate) fn seconds(&self, name: &'static str) -> Result<Option<u64>, Fault> {
        let found = match self.value(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.parse().ok(),
            Some(Value::Number(number)) => {
                let text = number.to_string();
                let whole = text.split('.').next().filter(|_| !text.contains('e'));
                whole.and_then(|whole| whole.parse().ok())
            }
            Some(_) => None,
        };
        found.map(Some).ok_or(Fault::Field {
            name,
            expected: "a number of seconds",
        })
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn fields_of_the_wrong_type_are_named_without_their_value() {
        check(r#"{"text":7}"#, expect!["`text` is not a string"]);
        check(
            r#"{"texts":["a",7]}"#,
            expect!["`texts` is not a list of strings"],
        );
        check(
            r#"{"texts":"a"}"#,
            expect!["`texts` is not a list of strings"],
        );
        check(r#"{"flag":"yes"}"#, expect!["`flag` is not true or false"]);
        check(
            r#"{"seconds":-1}"#,
            expect!["`seconds` is not a number of seconds"],
        );
        check(
            r#"{"seconds":"soon"}"#,
            expect!["`seconds` is not a number of seconds"],
        );
    }

    #[test]
    fn null_is_absent_and_sloppy_seconds_are_understood() {
        check(r"{}", expect!["None None false None"]);
        check(
            r#"{"text":null,"texts":null,"flag":null,"seconds":null}"#,
            expect!["None None false None"],
        );
        check(
            r#"{"text":"a","texts":["b"],"flag":true,"seconds":"60"}"#,
            expect![[r#"Some("a") Some(["b"]) true Some(60)"#]],
        );
        check(r#"{"seconds":59.9}"#, expect!["None None false Some(59)"]);
        check(
            r#"{"seconds":18446744073709551616}"#,
            expect!["`seconds` is not a number of seconds"],
        );
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        check("[]", expect!["the answer is not a JSON object"]);
        check("<html>", expect!["the answer is not a JSON object"]);
        check(
            &"{\"a\":".repeat(100_000),
            expect!["the answer is not a JSON object"],
        );
    }

    #[track_caller]
    fn check(body: &str, expected: Expect) {
        let read = |document: Document| {
            Ok::<_, Fault>(format!(
                "{:?} {:?} {} {:?}",
                document.text("text")?,
                document.texts("texts")?,
                document.flag("flag")?,
                document.seconds("seconds")?,
            ))
        };
        let outcome = Document::parse(body.as_bytes()).and_then(read);
        expected.assert_eq(&outcome.unwrap_or_else(|fault| fault.to_string()));
    }
}
