//! Paused calls as they are stored, first version.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::{InputRequests, InputResponses, RequestState};
use sterna_protocol::json::{JsonObject, RawObject};
use sterna_protocol::legacy::TaskMetadata;
use sterna_protocol::logging::LoggingLevel;
use thiserror::Error;

use super::state::CallState;
use super::{CallTarget, PausedCall, Reply};

/// A paused call, as text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Stored {
    /// Which version of this structure it is.
    sterna_paused_call: u32,
    server: String,
    request: Request,
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    meta: JsonObject,
    capabilities: ClientCapabilities,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_level: Option<LoggingLevel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<TaskMetadata>,
    rounds: u32,
    questions: InputRequests,
    answers: InputResponses,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<RequestState>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "method", deny_unknown_fields)]
enum Request {
    #[serde(rename = "prompts/get")]
    Prompt {
        name: String,
        arguments: BTreeMap<String, String>,
    },
    #[serde(rename = "resources/read")]
    Resource { uri: String },
    /// The arguments are text inside text: a tagged enum would not keep them
    /// as they were written.
    #[serde(rename = "tools/call")]
    Tool {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
    },
}

impl<T> From<PausedCall<T>> for Stored {
    fn from(paused: PausedCall<T>) -> Self {
        let request = match (*paused.call.target).clone() {
            CallTarget::Prompt { name, arguments } => Request::Prompt { name, arguments },
            CallTarget::Resource { uri } => Request::Resource { uri },
            CallTarget::Tool { name, arguments } => Request::Tool {
                name,
                arguments: arguments.map(|arguments| arguments.as_str().to_owned()),
            },
        };
        Self {
            sterna_paused_call: VERSION,
            server: paused.server,
            request,
            meta: paused.call.meta,
            capabilities: paused.call.capabilities,
            log_level: paused.call.log_level,
            task: paused.call.task,
            rounds: paused.call.rounds,
            questions: paused.questions,
            answers: paused.answers,
            state: paused.state,
        }
    }
}

impl<T: Reply> TryFrom<Stored> for PausedCall<T> {
    type Error = NotAPausedCall;

    fn try_from(stored: Stored) -> Result<Self, NotAPausedCall> {
        if stored.sterna_paused_call != VERSION {
            return Err(NotAPausedCall::Version(stored.sterna_paused_call));
        }
        let target = match stored.request {
            Request::Prompt { name, arguments } => CallTarget::Prompt { name, arguments },
            Request::Resource { uri } => CallTarget::Resource { uri },
            Request::Tool { name, arguments } => CallTarget::Tool {
                name,
                arguments: arguments
                    .map(|text| serde_json::from_str::<RawObject>(&text))
                    .transpose()
                    .map_err(|_| NotAPausedCall::Arguments)?,
            },
        };
        if T::METHOD != target.method() {
            return Err(NotAPausedCall::Kind);
        }
        let call = CallState {
            target: Arc::new(target),
            meta: stored.meta,
            capabilities: stored.capabilities,
            log_level: stored.log_level,
            task: stored.task,
            rounds: stored.rounds,
            responses: None,
            state: None,
            reply: PhantomData,
        };
        Ok(Self {
            server: stored.server,
            call,
            questions: stored.questions,
            answers: stored.answers,
            state: stored.state,
        })
    }
}

/// Reason why stored text is not a paused call of this kind.
#[derive(Debug, Error)]
pub(super) enum NotAPausedCall {
    #[error("the arguments are not a JSON object")]
    Arguments,
    #[error("the paused call ends with another kind of result")]
    Kind,
    #[error("a paused call of version {0}, which is not known here")]
    Version(u32),
}

const VERSION: u32 = 1;
