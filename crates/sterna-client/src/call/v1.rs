//! Paused calls as they are stored, first version.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use http::HeaderValue;
use http::header::COOKIE;
use serde::{Deserialize, Serialize};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::input::{InputRequests, InputResponses, RequestState};
use sterna_protocol::json::{JsonObject, RawObject};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::legacy::TaskMetadata;
use sterna_protocol::logging::LoggingLevel;
use thiserror::Error;

use super::state::CallState;
use super::{CallTarget, PausedCall, Reply};
use crate::core::{DetachedCall, SessionPause};
use crate::session::HeldReason;
use crate::transport::MCP_SESSION_ID;

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
    /// Place of the call in a session of a revision before 2026-07-28.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<StoredSession>,
}

/// Place of a detached call in its session.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredSession {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cookies: Option<String>,
    /// The event before the questions.
    event: String,
    call: RequestId,
    /// Ids of the open questions.
    questions: BTreeMap<String, RequestId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    settled: BTreeSet<RequestId>,
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

impl<T> TryFrom<&PausedCall<T>> for Stored {
    type Error = NotPlainData;

    fn try_from(paused: &PausedCall<T>) -> Result<Self, NotPlainData> {
        let session = match &paused.session {
            Some(SessionPause::Detached(call)) => Some(StoredSession::from(&**call)),
            Some(SessionPause::Held(held)) => return Err(NotPlainData(held.reason)),
            None => None,
        };
        let request = match (*paused.call.target).clone() {
            CallTarget::Prompt { name, arguments } => Request::Prompt { name, arguments },
            CallTarget::Resource { uri } => Request::Resource { uri },
            CallTarget::Tool { name, arguments } => Request::Tool {
                name,
                arguments: arguments.map(|arguments| arguments.as_str().to_owned()),
            },
        };
        Ok(Self {
            sterna_paused_call: VERSION,
            server: paused.server.clone(),
            request,
            meta: paused.call.meta.clone(),
            capabilities: paused.call.capabilities.clone(),
            log_level: paused.call.log_level.clone(),
            task: paused.call.task.clone(),
            rounds: paused.call.rounds,
            questions: paused.questions.clone(),
            answers: paused.answers.clone(),
            state: paused.state.clone(),
            session,
        })
    }
}

impl From<&DetachedCall> for StoredSession {
    fn from(call: &DetachedCall) -> Self {
        let header = |name| call.header(name).map(str::to_owned);
        Self {
            id: header(&MCP_SESSION_ID),
            version: header(&MCP_PROTOCOL_VERSION),
            cookies: header(&COOKIE),
            event: call.event.clone(),
            call: call.call.clone(),
            questions: call.ids.clone(),
            settled: call.settled.clone(),
        }
    }
}

impl StoredSession {
    /// The detached call, if it can be one that asks `questions`.
    fn detached(self, questions: &InputRequests) -> Option<DetachedCall> {
        let (id, version) = (self.id.as_deref(), self.version.as_deref());
        let headers = DetachedCall::session_headers(id, version, self.cookies.as_deref())?;
        let names = self.questions.keys().map(String::as_str);
        if !names.eq(questions.iter().map(|(name, _)| name)) {
            return None;
        }
        HeaderValue::from_str(&self.event).ok()?;
        Some(DetachedCall {
            headers,
            event: self.event,
            call: self.call,
            ids: self.questions,
            settled: self.settled,
        })
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
        let session = match stored.session {
            Some(session) => {
                let call = session.detached(&stored.questions);
                let call = call.ok_or(NotAPausedCall::Session)?;
                Some(SessionPause::Detached(Arc::new(call)))
            }
            None => None,
        };
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
            session,
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
    #[error("the place of the call in its session cannot be read")]
    Session,
    #[error("a paused call of version {0}, which is not known here")]
    Version(u32),
}

/// Error for a call that cannot be stored.
#[derive(Debug, Error)]
#[error("this paused call holds a connection and cannot be stored: {0}")]
pub(super) struct NotPlainData(HeldReason);

const VERSION: u32 = 1;
