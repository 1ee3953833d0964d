//! What is asked of every pair of client and server, read from `interop/cases.json`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::shell::workspace_root;

/// One call and the text it must end in.
#[derive(Deserialize)]
pub(super) struct Case {
    pub(super) id: String,
    expect: Value,
}

/// What a client's program printed about one case.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    pub(super) id: String,
    got: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Script {
    cases: Vec<Case>,
}

/// The file that every client's program is given.
pub(super) fn file() -> PathBuf {
    workspace_root().join("interop/cases.json")
}

pub(super) fn read() -> Result<Vec<Case>> {
    let text = std::fs::read_to_string(file()).context("cannot read interop/cases.json")?;
    let script: Script = serde_json::from_str(&text).context("interop/cases.json")?;
    Ok(script.cases)
}

impl Case {
    /// `None` if `outcome` is what the contract says, else what is wrong.
    pub(super) fn complaint(&self, outcome: &Outcome) -> Option<String> {
        let Some(got) = &outcome.got else {
            let error = outcome.error.as_deref().unwrap_or("nothing at all");
            return Some(format!("the client reported {error}"));
        };
        let right = match &self.expect {
            Value::String(text) => text == got,
            // Two spellings of one JSON document are equal.
            document => serde_json::from_str::<Value>(got).is_ok_and(|got| got == *document),
        };
        (!right).then(|| format!("got `{got}`, expected `{}`", self.expect))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expect: &str, outcome: &str) -> Option<String> {
        let case = format!(r#"{{"id": "x", "expect": {expect}}}"#);
        let case: Case = serde_json::from_str(&case).unwrap();
        case.complaint(&serde_json::from_str(outcome).unwrap())
    }

    #[test]
    fn a_document_is_compared_by_value_and_a_text_to_the_letter() {
        let json = r#"{"id": "x", "got": "{\"b\": 2, \"a\":1}"}"#;
        assert_eq!(check(r#"{"a": 1, "b": 2}"#, json), None);
        assert!(check(r#"{"a": 1, "b": 3}"#, json).is_some());
        assert_eq!(check(r#""hi""#, r#"{"id": "x", "got": "hi"}"#), None);
        assert!(check(r#""hi""#, r#"{"id": "x", "got": "hi "}"#).is_some());
        assert!(check(r#""hi""#, r#"{"id": "x", "error": "no"}"#).is_some());
    }

    #[test]
    fn the_cases_of_the_workspace_are_readable_and_have_names_of_their_own() {
        let mut ids: Vec<_> = read().unwrap().into_iter().map(|case| case.id).collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert!(all >= 13, "{ids:?}");
    }
}
