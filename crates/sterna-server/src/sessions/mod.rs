//! Sessions of the revisions before 2026-07-28, on the same endpoint.
//!
//! A session's id is sealed and holds all that `initialize` agreed on, so a
//! plain call lands on any instance. What an instance remembers of a session it
//! remembers for its own convenience (see [`SessionTable`](crate::session_table::SessionTable)): what is running and asked
//! here, and what is to be told here.

mod answer_relay;
mod batch;
mod calls;
mod dispatch;
mod ended;
mod initialize;
mod prompter;
mod session;
mod stream;
mod tasks;
mod v1;

use std::sync::Arc;

use http::header::RETRY_AFTER;
use http::{HeaderValue, Method, Response, StatusCode};
use serde_json::value::RawValue;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::jsonrpc::{
    DecodeError, ErrorCode, ErrorObject, ErrorResponse, Message, RequestId,
};
use sterna_protocol::legacy::{ClientNotification, ClientRequest};
use sterna_protocol::version::ProtocolVersion;

pub(crate) use dispatch::{notification, request};
use ended::NotRecorded;
pub(crate) use initialize::{Initialized, initialize, reject_initialize};
pub(crate) use session::Session;
use sterna_http::{Inbound, ResponseBody, reply};
pub(crate) use stream::open as open_stream;

use crate::core::Core;
use crate::era::{MCP_SESSION_ID, has_sessions};
use crate::session_table::ClientAnswer;
use crate::tasks::store_failed;

/// Messages that a client may send within a session.
pub(crate) type FromClient<'a> = Message<'a, ClientRequest, ClientNotification, &'a RawValue>;

/// Answers one HTTP request of a session, or the one that opens it.
pub(crate) async fn answer(core: Arc<Core>, inbound: Inbound) -> Response<ResponseBody> {
    let headers = &inbound.head.headers;
    if let Some(version) = headers.get(MCP_PROTOCOL_VERSION)
        && !version.to_str().is_ok_and(has_sessions)
    {
        return refuse(StatusCode::BAD_REQUEST, UNKNOWN_REVISION);
    }
    let Some(id) = headers.get(MCP_SESSION_ID) else {
        if inbound.head.method != Method::POST {
            return refuse(StatusCode::BAD_REQUEST, NO_SESSION);
        }
        let Initialized {
            mut response,
            opened,
        } = initialize(&core, &inbound);
        if let Some((_, id)) = opened {
            response.headers_mut().insert(MCP_SESSION_ID, id);
        }
        return response;
    };
    let session = id
        .to_str()
        .ok()
        .and_then(|id| Session::open(&core, inbound.admission.caller(), id));
    // One text for every reason: the peer must not learn which check stopped it.
    let unknown = || {
        refuse(
            StatusCode::NOT_FOUND,
            "Unknown session; open one with `initialize`",
        )
    };
    let Some(session) = session else {
        return unknown();
    };
    if ended::has_ended(&core, session.key).await {
        return unknown();
    }
    match inbound.head.method {
        Method::GET => open_stream(&core, &inbound, &session),
        Method::DELETE => end(&core, &session).await,
        _ => post(core, inbound, Arc::new(session)).await,
    }
}

/// Ends a session, at every instance that shares the store.
async fn end(core: &Core, session: &Session) -> Response<ResponseBody> {
    let text = match ended::record(core, session).await {
        Ok(()) => {
            core.session_table.end(session.key);
            let mut response = Response::new(ResponseBody::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            return response;
        }
        Err(NotRecorded::Store(error)) => {
            store_failed(&error);
            "The session was not ended, try again"
        }
        Err(NotRecorded::TooMany) => "Too many sessions are being ended, try again",
    };
    // Half an end is none: the client asks again, and no instance has forgotten the session.
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, text);
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Gives up the questions of a session whose client has disconnected.
pub(crate) fn disconnect(core: &Core, session: &Session) {
    if let Some(live) = core.session_table.find(&session.key) {
        live.disconnect();
    }
}

async fn post(core: Arc<Core>, inbound: Inbound, session: Arc<Session>) -> Response<ResponseBody> {
    // Cheap: the bytes are shared, and the message borrows from them.
    let body = inbound.body.clone();
    match FromClient::decode(&body) {
        Ok(Message::Request(request)) => {
            self::request(core, inbound, session, request.id, request.params).await
        }
        Ok(Message::Notification(notification)) => {
            self::notification(&core, &session, notification.params);
            reply::accepted()
        }
        Ok(Message::Result(response)) => {
            let answer = Ok(response.result.get().to_owned());
            answered(core, inbound, session, response.id, answer).await
        }
        Ok(Message::Error(response)) => match response.id {
            Some(id) => answered(core, inbound, session, id, Err(response.error)).await,
            None => reply::accepted(),
        },
        Err(error) => unreadable(core, inbound, session, error).await,
    }
}

/// Answers a message that could not be decoded: serves a batch where the
/// revision has them, refuses all others.
pub(crate) async fn unreadable(
    core: Arc<Core>,
    inbound: Inbound,
    session: Arc<Session>,
    error: DecodeError,
) -> Response<ResponseBody> {
    match error {
        DecodeError::Batch if session.version == ProtocolVersion::V2025_03_26 => {
            batch::answer(core, inbound, session).await
        }
        error => dispatch::unreadable(&error, &inbound.body, inbound.accepts),
    }
}

/// Delivers the client's answer to the call or the task that asked.
pub(crate) async fn answered(
    core: Arc<Core>,
    inbound: Inbound,
    session: Arc<Session>,
    id: RequestId,
    answer: ClientAnswer,
) -> Response<ResponseBody> {
    let question = tasks::TaskQuestion::of(&id).filter(|_| tasks::has_tasks(&core, &session));
    let caller = inbound.admission.caller();
    let taken = match (question, &core.tasks) {
        (Some(question), Some(tasks)) => tasks::answer(tasks, caller, question, answer).await,
        _ => dispatch::response(&core, caller, &session, &id, answer).await,
    };
    match taken {
        Ok(()) => reply::accepted(),
        Err(error) => {
            store_failed(&error);
            refuse(
                StatusCode::SERVICE_UNAVAILABLE,
                "The answer was not stored; send it again",
            )
        }
    }
}

/// A refusal of the whole HTTP request.
fn refuse(status: StatusCode, text: &str) -> Response<ResponseBody> {
    let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, text);
    let mut message = Vec::with_capacity(96);
    ErrorResponse::new(None, error)
        .encode(&mut message)
        .expect("an error holds JSON only");
    reply::json(status, message)
}

/// A message of no session, in a revision that has them, or of no revision.
const NO_SESSION: &str = "The message belongs to no session: send `initialize` first and repeat \
    the `Mcp-Session-Id` header of its answer, or speak 2026-07-28, with the header \
    `MCP-Protocol-Version: 2026-07-28` and `_meta` in every request";

const UNKNOWN_REVISION: &str = "Unsupported protocol version: `MCP-Protocol-Version` must be \
    2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26";
