//! Sessions of the revisions before 2026-07-28, on the same endpoint.
//!
//! A session's id is sealed and holds all that `initialize` agreed on, so a
//! plain call lands on any instance. What an instance remembers of a session it
//! remembers for its own convenience (see [`Desk`]): what is running and asked
//! here, and what is to be told here.

mod batch;
mod calls;
mod desk;
mod dispatch;
mod era;
mod initialize;
mod letters;
mod line;
mod live;
mod session;
mod stream;
mod tasks;
mod v1;

use std::sync::Arc;

use http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use serde_json::value::RawValue;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::jsonrpc::{
    DecodeError, ErrorCode, ErrorObject, ErrorResponse, Message, RequestId,
};
use sterna_protocol::legacy::{ClientNotification, ClientRequest};
use sterna_protocol::version::ProtocolVersion;

pub(crate) use desk::Desk;
pub(crate) use era::{Era, era, stands_alone};
pub(crate) use initialize::not_spoken;
use live::Answered;
pub(crate) use live::Live;
use session::Session;

use crate::auth::Caller;
use crate::core::Core;
use crate::edge::{EdgeBody, Inbound, reply};
use crate::tasks::store_failed;

/// What a client may send within a session.
type FromClient<'a> = Message<'a, ClientRequest, ClientNotification, &'a RawValue>;

/// Answers one HTTP request of a session, or the one that opens it.
pub(crate) async fn answer(core: Arc<Core>, inbound: Inbound) -> Response<EdgeBody> {
    let headers = &inbound.head.headers;
    if let Some(version) = headers.get(MCP_PROTOCOL_VERSION)
        && !version.to_str().is_ok_and(is_legacy)
    {
        return refuse(StatusCode::BAD_REQUEST, "Unsupported protocol version");
    }
    let Some(id) = headers.get(MCP_SESSION_ID) else {
        return match inbound.head.method {
            Method::POST => initialize::initialize(&core, &inbound),
            _ => refuse(StatusCode::BAD_REQUEST, "A session id is needed"),
        };
    };
    let session = id
        .to_str()
        .ok()
        .and_then(|id| Session::open(&core, inbound.pass.caller(), id));
    // One text for every reason: the peer must not learn which check stopped it.
    let Some(session) = session.filter(|session| !core.desk.has_ended(&session.key)) else {
        return refuse(StatusCode::NOT_FOUND, "Unknown session");
    };
    match inbound.head.method {
        Method::GET => stream::open(&core, &inbound, &session),
        Method::DELETE => {
            core.desk.end(session.key);
            let mut response = Response::new(EdgeBody::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        _ => post(core, inbound, session).await,
    }
}

/// Gives up on what was asked in a session whose client is gone.
pub(crate) fn hang_up(core: &Core, id: &HeaderValue) {
    let session = id
        .to_str()
        .ok()
        .and_then(|id| Session::open(core, &Caller::anonymous(), id));
    if let Some(live) = session.and_then(|session| core.desk.find(&session.key)) {
        live.hang_up();
    }
}

async fn post(core: Arc<Core>, inbound: Inbound, session: Session) -> Response<EdgeBody> {
    // Cheap: the bytes are shared, and the message borrows from them.
    let body = inbound.body.clone();
    match FromClient::decode(&body) {
        Ok(Message::Request(request)) => {
            dispatch::request(core, inbound, session, request.id, request.params).await
        }
        Ok(Message::Notification(notification)) => {
            dispatch::notification(&core, &session, notification.params);
            reply::accepted()
        }
        Ok(Message::Result(response)) => {
            let answer = Ok(response.result.get().to_owned());
            answered(&core, &inbound, &session, &response.id, answer).await
        }
        Ok(Message::Error(response)) => {
            let Some(id) = &response.id else {
                return reply::accepted();
            };
            answered(&core, &inbound, &session, id, Err(response.error)).await
        }
        Err(DecodeError::Batch) if session.version == ProtocolVersion::V2025_03_26 => {
            batch::answer(core, inbound, session).await
        }
        Err(error) => dispatch::unreadable(&error, &body, inbound.accepts),
    }
}

/// Brings an answer of the client to who asked.
async fn answered(
    core: &Core,
    inbound: &Inbound,
    session: &Session,
    id: &RequestId,
    answer: Answered,
) -> Response<EdgeBody> {
    let question = tasks::Question::of(id).filter(|_| tasks::has_tasks(core, session));
    let caller = inbound.pass.caller();
    let taken = match (question, &core.tasks) {
        (Some(question), Some(tasks)) => tasks::answer(tasks, caller, question, answer).await,
        _ => dispatch::response(core, caller, session, id, answer).await,
    };
    match taken {
        Ok(()) => reply::accepted(),
        Err(error) => {
            store_failed(&error);
            refuse(StatusCode::SERVICE_UNAVAILABLE, "The answer was not taken")
        }
    }
}

/// A refusal of the whole HTTP request.
fn refuse(status: StatusCode, text: &str) -> Response<EdgeBody> {
    let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, text);
    let mut message = Vec::with_capacity(96);
    ErrorResponse::new(None, error)
        .encode(&mut message)
        .expect("an error holds JSON only");
    reply::json(status, message)
}

fn is_legacy(version: &str) -> bool {
    REVISIONS.iter().any(|known| known.as_str() == version)
}

/// The revisions with sessions, newest first.
const REVISIONS: [ProtocolVersion; 3] = [
    ProtocolVersion::V2025_11_25,
    ProtocolVersion::V2025_06_18,
    ProtocolVersion::V2025_03_26,
];

pub(crate) const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
