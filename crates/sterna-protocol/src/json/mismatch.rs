/// Describes the difference between JSON and a type, without the value: it may
/// be long, and it may be a secret.
///
/// # Examples
///
/// ```
/// use sterna_protocol::json::mismatch;
///
/// let error = serde_json::from_str::<u8>("\"hunter2\"").unwrap_err();
/// assert_eq!(mismatch(&error), "invalid type: string, expected u8");
/// ```
#[must_use]
pub fn mismatch(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // The position is relative to a part of the message, so the sender cannot use it.
    let text = match text.rsplit_once(" at line ") {
        Some((text, _)) if error.line() != 0 => text,
        _ => &text,
    };
    let said = without_value(text);
    let mut shown: String = said.chars().filter(|letter| !letter.is_control()).collect();
    if let Some((end, _)) = shown.char_indices().nth(LONGEST) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

/// Removes the value from the text of an error. A path may precede it.
fn without_value(text: &str) -> String {
    let expected = |rest: &str| {
        rest.rsplit_once(", expected ")
            .map(|(_, expected)| expected.to_owned())
    };
    for lead in ["invalid type: ", "invalid value: "] {
        if let Some((place, rest)) = text.split_once(lead)
            && let Some(expected) = expected(rest)
        {
            let kind = rest.split(['"', '`', ',']).next().unwrap_or_default();
            return format!("{place}{lead}{}, expected {expected}", kind.trim_end());
        }
    }
    if let Some((place, rest)) = text.split_once("unknown variant `") {
        return match expected(rest) {
            Some(expected) => format!("{place}unknown name, expected {expected}"),
            None => format!("{place}unknown name"),
        };
    }
    text.to_owned()
}

/// Longer than any description of this crate.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::tool::CallToolRequestParams;

    #[track_caller]
    fn check<T: DeserializeOwned>(json: &str, expected: Expect) {
        let read = serde_json::from_str::<T>(json).map(drop);
        expected.assert_eq(&mismatch(&read.unwrap_err()));
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase", deny_unknown_fields)]
    enum Colour {
        Blue,
        Red,
    }

    #[test]
    fn a_value_is_left_out_whatever_it_holds() {
        check::<u8>(r#""hunter2""#, expect!["invalid type: string, expected u8"]);
        check::<u8>("1.5", expect!["invalid type: floating point, expected u8"]);
        check::<u8>("300", expect!["invalid value: integer, expected u8"]);
        check::<u8>(
            r#"", expected `x`, expected hunter2""#,
            expect!["invalid type: string, expected u8"],
        );
        check::<Colour>(
            r#""hunter2""#,
            expect!["unknown name, expected `blue` or `red`"],
        );
        check::<Vec<u8>>("null", expect!["invalid type: null, expected a sequence"]);
        check::<CallToolRequestParams>(
            r#"{"_meta": {"io.modelcontextprotocol/protocolVersion": "hunter2", "io.modelcontextprotocol/clientCapabilities": {}}, "name": 5}"#,
            expect!["`name`: invalid type: integer, expected a string"],
        );
    }

    #[test]
    fn a_long_description_is_cut() {
        #[derive(Debug)]
        struct Never;
        impl<'de> Deserialize<'de> for Never {
            fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
                Err(serde::de::Error::custom("\u{1b}x".repeat(9999)))
            }
        }
        let error = serde_json::from_str::<Never>("1").unwrap_err();
        assert_eq!(mismatch(&error), format!("{}…", "x".repeat(LONGEST)));
    }
}
