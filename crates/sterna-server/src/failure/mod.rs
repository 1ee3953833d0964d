//! Failures of requests, and the one place where they become text.

mod request_error;

use std::borrow::Cow;

use http::StatusCode;
use serde_json::json;
use sterna_http::Refusal;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::errors::{MissingRequiredClientCapability, UnsupportedProtocolVersion};
use sterna_protocol::http::HeaderMismatch;
use sterna_protocol::jsonrpc::{DecodeError, ErrorCode, ErrorObject};
use sterna_protocol::version::ProtocolVersion;
use sterna_seal::OpenError;

pub use request_error::{AskError, RequestError};

use crate::wording;

/// Reason that a request has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The tool is not to be called this way: as a task, or not as one. Says
    /// which.
    AsTask(&'static str),
    /// The client did not declare what the request needs.
    Capability(Box<ClientCapabilities>),
    /// The client has more questions open than it may.
    Crowded,
    /// The message cannot be read.
    Decode(DecodeError),
    /// The caller may not: it calls too often, or lacks a scope.
    Forbidden(Box<Refusal>),
    /// The author's handler refuses.
    Handler(RequestError),
    /// The headers are not those of the body.
    Header(HeaderMismatch),
    /// Something of ours is broken. It was logged where it was found.
    Internal,
    /// The server is serverless and keeps no stream open.
    NoListeners,
    /// A session of this revision is not opened, because the server is
    /// serverless.
    NoSessions(ProtocolVersion),
    /// A part of the parameters is not acceptable; says which and why.
    Params(Cow<'static, str>),
    /// The flow wants to go back to the client more often than it may.
    Rounds,
    /// The request state is not ours, not for this request, or too old. Which
    /// it was has been logged.
    State,
    /// The call took longer than it may.
    TimedOut,
    /// The caller has this many unfinished tasks, which is all it may have.
    TooManyTasks(u32),
    /// The tool failed, in words for the model.
    Tool(String),
    /// The client did not answer what it was asked; says why, for the model too.
    Unanswered(&'static str),
    /// There is nothing of that name.
    Unknown(Box<Unknown>),
    /// There is no such method; has its name.
    UnknownMethod(String),
    /// A revision that is not served.
    Version(ProtocolVersion),
}

/// Something that was asked for by a name that nothing has.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) kind: Kind,
    /// As the client wrote it.
    pub(crate) name: String,
    /// The name that was most likely meant, of those that the caller may use.
    pub(crate) meant: Option<String>,
}

/// The kinds of things that have names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Prompt,
    Resource,
    Template,
    Tool,
}

impl Failure {
    /// The parameters are not acceptable: says which, why and what to do.
    pub(crate) fn params(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Params(what.into())
    }

    /// Nothing of this `kind` is called `name`; `usable` are the names of those
    /// that there are and that the caller may use.
    pub(crate) fn unknown<'a>(
        kind: Kind,
        name: String,
        usable: impl Iterator<Item = &'a str>,
    ) -> Self {
        let meant = wording::closest(&name, usable).map(str::to_owned);
        Self::Unknown(Box::new(Unknown { kind, name, meant }))
    }

    /// The answer: the only place where a failure becomes text a peer can read.
    pub(crate) fn to_wire(&self) -> (StatusCode, ErrorObject) {
        const BAD: StatusCode = StatusCode::BAD_REQUEST;
        match self {
            Self::AsTask(why) => (
                StatusCode::OK,
                ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, *why),
            ),
            Self::Capability(missing) => (BAD, missing_capability(missing, DECLARED_BY_REQUEST)),
            Self::Crowded => internal(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many questions are open in this session; answer some of them first",
            ),
            Self::Decode(error) => match error {
                DecodeError::UnknownMethod { method, .. } => {
                    Self::UnknownMethod(method.clone()).to_wire()
                }
                other => (BAD, other.into()),
            },
            Self::Forbidden(refusal) => match **refusal {
                Refusal::Throttled { .. } => internal(
                    StatusCode::TOO_MANY_REQUESTS,
                    "Too many questions were asked on behalf of this caller; wait and call again",
                ),
                _ => internal(StatusCode::FORBIDDEN, "Not allowed"),
            },
            Self::Handler(error) => (StatusCode::OK, error.to_wire()),
            Self::Header(mismatch) => (BAD, mismatch.into()),
            Self::Internal => internal(StatusCode::INTERNAL_SERVER_ERROR, "Internal error"),
            Self::NoListeners => {
                let text = "Method not found: subscriptions/listen; this server runs serverless \
                            and keeps no stream open. Read lists and resources again when their \
                            `ttlMs` has passed, and tasks with `tasks/get`";
                let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, text);
                (StatusCode::NOT_FOUND, error)
            }
            Self::NoSessions(requested) => {
                let (status, mut error) = unsupported(requested);
                error.message.push_str(
                    ". It runs serverless and keeps no sessions: use a client of that revision, \
                     or ask the operator for an instance with sessions",
                );
                (status, error)
            }
            Self::Params(what) => (BAD, invalid(format!("Invalid params: {what}"))),
            Self::Rounds => internal(
                StatusCode::OK,
                "The request needs more rounds than the server allows (`flow.max_rounds`)",
            ),
            // One text for every reason: the peer must not learn which check stopped it (MRTR-S4).
            Self::State => (
                BAD,
                invalid(OpenError::WIRE_MESSAGE)
                    .with_data(json!({"reason": OpenError::WIRE_REASON})),
            ),
            Self::TimedOut => internal(
                StatusCode::GATEWAY_TIMEOUT,
                "The call took longer than the server allows (`timeouts.call`)",
            ),
            Self::TooManyTasks(most) => internal(
                StatusCode::TOO_MANY_REQUESTS,
                &format!(
                    "Too many unfinished tasks: you have {most}, the most allowed. \
                     Wait until some have ended, answer those that wait for input, \
                     or cancel some with tasks/cancel, then call again"
                ),
            ),
            Self::Tool(_) => internal(StatusCode::OK, "The request was not served"),
            Self::Unanswered(why) => internal(StatusCode::OK, why),
            Self::Unknown(unknown) => (StatusCode::OK, unknown.to_wire()),
            // HTTP-S12
            Self::UnknownMethod(method) => {
                let method = wording::name(method);
                let text = format!("Method not found: {method}; this server does not offer it");
                let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, text);
                (StatusCode::NOT_FOUND, error)
            }
            Self::Version(requested) => unsupported(requested),
        }
    }
}

impl Failure {
    /// The answer within a session of the older revisions, which say most
    /// things in the same way.
    pub(crate) fn to_session_wire(&self) -> ErrorObject {
        match self {
            Self::Capability(missing) => missing_capability(missing, DECLARED_BY_SESSION),
            Self::Unknown(unknown) if matches!(unknown.kind, Kind::Resource) => {
                let mut error = unknown.to_wire();
                error.code = ErrorCode::RESOURCE_NOT_FOUND;
                error
            }
            failure => failure.to_wire().1,
        }
    }
}

impl Unknown {
    fn to_wire(&self) -> ErrorObject {
        let (kind, list) = match self.kind {
            Kind::Prompt => ("prompt", "prompts/list"),
            Kind::Resource => ("resource", "resources/list"),
            Kind::Template => ("prompt or resource template", "prompts/list"),
            Kind::Tool => ("tool", "tools/list"),
        };
        let name = wording::name(&self.name);
        let error = invalid(match &self.meant {
            Some(meant) => format!("Unknown {kind} {name}; did you mean `{meant}`?"),
            None => format!("Unknown {kind} {name}; `{list}` has those of this server"),
        });
        match self.kind {
            // RES-S7, RES-S14. A part of a URI would be another URI, so one that is too
            // long to come back is left out.
            Kind::Resource if self.name.len() <= LONGEST_URI => {
                error.with_data(json!({ "uri": self.name }))
            }
            _ => error,
        }
    }
}

/// The error that names the revision which the server speaks.
fn unsupported(requested: &ProtocolVersion) -> (StatusCode, ErrorObject) {
    let supported = vec![ProtocolVersion::V2026_07_28];
    // No revision has such a name, however long the one that was sent is.
    let requested = wording::cut(requested.as_str(), wording::LONGEST_NAME);
    let refusal = UnsupportedProtocolVersion::new((&*requested).into(), supported);
    (StatusCode::BAD_REQUEST, (&refusal).into())
}

/// The error that names what a client would have to declare, and where.
fn missing_capability(missing: &ClientCapabilities, place: &str) -> ErrorObject {
    let missing = MissingRequiredClientCapability::new(missing.clone());
    let mut error = ErrorObject::from(&missing);
    error.message.push_str(place);
    error
}

fn invalid(message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
}

fn internal(status: StatusCode, message: &str) -> (StatusCode, ErrorObject) {
    (status, ErrorObject::new(ErrorCode::INTERNAL_ERROR, message))
}

const DECLARED_BY_REQUEST: &str =
    ": declare it in `io.modelcontextprotocol/clientCapabilities` of the request's `_meta`";

const DECLARED_BY_SESSION: &str = ": declare it in `capabilities` of `initialize`";

/// As long as a URI may be in most of the web.
const LONGEST_URI: usize = 2048;
