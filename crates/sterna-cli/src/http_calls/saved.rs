//! A request that is paused, as a file that another process goes on with.

use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::reply::{Pause, check};
use super::request::HttpRequest;
use crate::exit::Failure;
use crate::private_file;
use crate::text::{JsonLayout, printable_json};

/// Request between two rounds. It holds the state of the server and answers: a
/// reader of it can act for the user.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SavedRequest {
    version: u32,
    pub(crate) request: HttpRequest,
    /// Number of rounds that the server has asked in.
    pub(crate) rounds: u32,
    pub(crate) step: SavedStep,
}

/// Point that a request has reached.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(crate) enum SavedStep {
    /// It is long work, with this address.
    Operation { location: String },
    /// The server has asked.
    Paused {
        token: String,
        questions: Map<String, Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<String>,
        /// Answers that were given so far.
        #[serde(default)]
        answers: Map<String, Value>,
    },
}

impl SavedRequest {
    /// The request after its `rounds`th pause.
    pub(super) fn paused(request: &HttpRequest, rounds: u32, pause: Pause) -> Self {
        Self {
            version: VERSION,
            request: request.clone(),
            rounds,
            step: SavedStep::Paused {
                token: pause.token,
                questions: pause.questions,
                expires_at: pause.expires_at,
                answers: Map::new(),
            },
        }
    }

    /// The request that has become the operation at `location`.
    pub(super) fn operation(request: &HttpRequest, rounds: u32, location: String) -> Self {
        Self {
            version: VERSION,
            request: request.clone(),
            rounds,
            step: SavedStep::Operation { location },
        }
    }

    /// Returns true if a file holds a request to an HTTP API, and not an MCP call.
    pub(crate) fn is_one(json: &Value) -> bool {
        json.get(MEMBER).is_some()
    }

    /// Reads what [`to_json`](Self::to_json) has made.
    pub(crate) fn read(json: &Value, file: &Path) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::usage(format!("{} is not a paused request: {why}", file.display()))
                .hint("`sterna call-http … --save FILE` writes one when a question has no answer")
        };
        let saved: Self = serde_json::from_value(json[MEMBER].clone())
            .map_err(|error| wrong(&error.to_string()))?;
        if saved.version != VERSION {
            return Err(wrong("a later release has written it"));
        }
        if let SavedStep::Paused { questions, .. } = &saved.step {
            check(questions)?;
        }
        Ok(saved)
    }

    /// Returns the questions without an answer.
    pub(super) fn open(&self) -> Map<String, Value> {
        let SavedStep::Paused {
            questions, answers, ..
        } = &self.step
        else {
            return Map::new();
        };
        let open = questions.iter();
        let open = open.filter(|(key, _)| !answers.contains_key(*key));
        open.map(|(key, question)| (key.clone(), question.clone()))
            .collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ MEMBER: self })
    }

    /// Writes the request to a file that only the user can read.
    pub(super) fn write(&self, file: &Path) -> Result<(), Failure> {
        // The same value, also for a reader who prints the file.
        let text = printable_json(&format!("{:#}", self.to_json()), JsonLayout::Lines);
        let written = private_file::write(file, &text);
        Ok(
            written
                .with_context(|| format!("the request cannot be saved to {}", file.display()))?,
        )
    }
}

/// Member that tells the file from a paused MCP call.
const MEMBER: &str = "http";
const VERSION: u32 = 1;
