//! What is called, and what is answered.

use serde::Deserialize;
use serde_json::Value;
use sterna_protocol::elicitation::{ElicitAction, ElicitContent};
use sterna_protocol::roots::Root;

#[derive(Deserialize)]
pub(crate) struct Script {
    pub(crate) answers: Answers,
    pub(crate) cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Answers {
    pub(crate) fields: ElicitContent,
    pub(crate) sample: String,
    pub(crate) roots: Vec<Root>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) list: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) resource: Option<String>,
    pub(crate) arguments: Value,
    pub(crate) action: Option<ElicitAction>,
}
