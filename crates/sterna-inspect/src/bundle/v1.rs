//! The first format of kept calls. Files of it are in bug reports, so it does not
//! change: a new format gets a file of its own.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version, beside a call that is read once it is known.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Envelope {
    #[serde(rename = "sterna-inspect-call")]
    pub(super) version: u32,
    pub(super) call: Value,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoredCall {
    pub(super) target: String,
    pub(super) era: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) rounds: Vec<StoredRound>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoredRound {
    pub(super) parent: Option<usize>,
    #[serde(default)]
    pub(super) answers: Vec<(String, Value)>,
    pub(super) altered: Option<StoredAlteration>,
    pub(super) took_ms: Option<u64>,
    pub(super) status: StoredStatus,
    #[serde(default)]
    pub(super) live: Vec<StoredQuestion>,
    #[serde(default)]
    pub(super) progress: Vec<StoredProgress>,
    #[serde(default)]
    pub(super) logs: Vec<StoredLogLine>,
    #[serde(default)]
    pub(super) wire: Vec<StoredMessage>,
    #[serde(default)]
    pub(super) left_out: usize,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoredAlteration {
    pub(super) what: String,
    pub(super) refusal: Option<(String, String)>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum StoredStatus {
    Asked {
        questions: Vec<(String, Value)>,
        state_bytes: Option<usize>,
    },
    Cancelled,
    Done {
        result: Value,
        is_error: bool,
    },
    Failed {
        text: String,
        code: String,
        is_of_state: bool,
        rpc: Option<(i64, String)>,
    },
    Unfinished {
        was: String,
    },
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoredQuestion {
    pub(super) key: String,
    pub(super) request: Value,
    pub(super) answer: Option<Value>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoredProgress {
    pub(super) after_ms: u64,
    pub(super) progress: f64,
    pub(super) total: Option<f64>,
    pub(super) message: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoredLogLine {
    pub(super) after_ms: u64,
    pub(super) level: String,
    pub(super) logger: Option<String>,
    pub(super) text: String,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoredMessage {
    pub(super) after_ms: u64,
    pub(super) sent: bool,
    pub(super) title: String,
    pub(super) status: Option<u16>,
    #[serde(default)]
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    pub(super) bytes: usize,
}
