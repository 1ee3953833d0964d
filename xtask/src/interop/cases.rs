//! What is asked of every pair of client and server, read from `interop/cases.json`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::shell::workspace_root;

/// One call and the text it must end in.
#[derive(Clone, Deserialize)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) tool: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) resource: Option<String>,
    #[serde(default)]
    pub(super) arguments: Value,
    /// What becomes of the question instead of an answer.
    pub(super) action: Option<String>,
    expect: Value,
}

/// What a client's program printed about one case.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    pub(super) id: String,
    got: Option<String>,
    error: Option<String>,
}

/// The calls, and the answers to whatever they ask.
#[derive(Deserialize)]
pub(super) struct Script {
    pub(super) answers: Answers,
    pub(super) cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(super) struct Answers {
    pub(super) fields: Map<String, Value>,
}

/// The file that every client's program is given.
pub(super) fn file() -> PathBuf {
    workspace_root().join("interop/cases.json")
}

pub(super) fn read() -> Result<Script> {
    let text = std::fs::read_to_string(file()).context("cannot read interop/cases.json")?;
    serde_json::from_str(&text).context("interop/cases.json")
}

impl Outcome {
    /// The text a case ended in, or why it did not.
    pub(super) fn of(id: &str, ended: Result<String, String>) -> Self {
        let (got, error) = match ended {
            Ok(got) => (Some(got), None),
            Err(error) => (None, Some(error)),
        };
        let id = id.to_owned();
        Self { id, got, error }
    }
}

impl Case {
    /// Whether the `sterna` command can run it alone: folders have names there
    /// that only `--root` can give, and lists have another shape.
    pub(super) fn is_for_the_command(&self) -> bool {
        let calls = self.tool.is_some() || self.prompt.is_some() || self.resource.is_some();
        calls && self.id != "multi"
    }

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
        let mut ids: Vec<_> = read()
            .unwrap()
            .cases
            .into_iter()
            .map(|case| case.id)
            .collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert!(all >= 13, "{ids:?}");
    }
}
