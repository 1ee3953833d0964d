//! What came of a try, in a few words.

use serde_json::Value;

use crate::wire::{Answer, Wire};

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    label: String,
    /// Whether a server may do that to anybody.
    is_clean: bool,
    /// Whether another request can follow on the same connection.
    pub(crate) goes_on: bool,
}

impl Outcome {
    pub(crate) fn new(label: impl Into<String>, is_clean: bool) -> Self {
        Self {
            label: label.into(),
            is_clean,
            goes_on: false,
        }
    }

    /// Reads one answer.
    pub(crate) fn read(wire: &mut Wire) -> Self {
        match wire.answer() {
            Ok(Some(answer)) => Self::of(&answer),
            Ok(None) => Self::new("closed", true),
            Err(_) => Self::new("no answer", false),
        }
    }

    fn of(answer: &Answer) -> Self {
        let status = answer.status;
        let said = if answer.is_stream() {
            Some("stream".to_owned())
        } else if answer.body.is_empty() {
            Some(String::new())
        } else {
            serde_json::from_slice(&answer.body)
                .ok()
                .and_then(|message| describe(&message))
        };
        let goes_on = !answer.is_stream() && answer.header("connection") != Some("close");
        let is_clean = said.is_some() && !matches!(status, 0 | 500..);
        let said = said.unwrap_or_else(|| "no message".to_owned());
        Self {
            label: format!("{status} {said}").trim().to_owned(),
            is_clean,
            goes_on,
        }
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.is_clean
    }
}

/// A response in one word; `None` if it is none.
pub(crate) fn describe(message: &Value) -> Option<String> {
    if message["jsonrpc"] != "2.0" {
        return None;
    }
    let error = &message["error"];
    match (message.get("result"), error["code"].as_i64()) {
        (Some(result), None) if result["isError"] == true => Some("tool error".to_owned()),
        (Some(result), None) if result["resultType"] == "input_required" => {
            Some("question".to_owned())
        }
        (Some(_), None) => Some("result".to_owned()),
        (None, Some(code)) if error["message"].is_string() => Some(code.to_string()),
        _ => None,
    }
}
