//! Requests of 2026-07-28, each of which stands alone.

mod admit;
mod calls;
mod dispatch;
mod extension;
mod known_clients;
mod listen;
mod outcome;
mod task_request;
mod tasks;

use std::sync::Arc;

use http::{Response, StatusCode};
use serde::de::IgnoredAny;
use sterna_protocol::jsonrpc::{DecodeError, Message, RequestId};
use sterna_protocol::methods::{ClientNotification, ClientRequest, Or};
use sterna_protocol::version::ProtocolVersion;

use known_clients::KnownClients;
use sterna_http::{Inbound, ResponseBody, reply};
use tasks::AnyTaskRequest;
pub(crate) use tasks::served_methods;

use crate::core::Core;
use crate::failure::Failure;
use crate::reply::{Answer, Reply};

/// Messages that a client may send. It sends no responses: a server asks only
/// in its results.
pub(crate) type FromClient<'a> = Message<'a, Box<AnyRequest>, ClientNotification, IgnoredAny>;

/// Request of 2026-07-28, of the tasks extension or of SEP-2322.
pub(crate) type AnyRequest = Or<ClientRequest, AnyTaskRequest>;

/// Answers one POST.
pub(crate) fn answer(core: Arc<Core>, inbound: Inbound) -> Reply {
    if let Some((id, request)) = KnownClients::read(&inbound) {
        return self::request(core, inbound, id, Box::new(Or::First(request)));
    }
    // Cheap: the bytes are shared, and the message borrows from them.
    let body = inbound.body.clone();
    match FromClient::decode(&body) {
        Ok(Message::Request(request)) => self::request(core, inbound, request.id, request.params),
        // HTTP-S5. On HTTP a client cancels by closing the stream, so there is nothing to do.
        Ok(Message::Notification(_)) => Reply::Ready(reply::accepted()),
        Ok(Message::Result(_) | Message::Error(_)) => Reply::Ready(not_accepted()),
        Err(error) => unreadable(core, inbound, error),
    }
}

/// Answers a request that has been decoded.
pub(crate) fn request(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    request: Box<AnyRequest>,
) -> Reply {
    match core.backend {
        None => serve(core, inbound, id, request),
        Some(_) => Reply::pending(in_view(core, inbound, id, request)),
    }
}

/// Answers a request with what the backend offers to its sender.
async fn in_view(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    request: Box<AnyRequest>,
) -> Response<ResponseBody> {
    let core = match &*request {
        Or::First(params) => match admit::meta(params) {
            Ok(meta) if meta.protocol_version == ProtocolVersion::V2026_07_28 => {
                let (admission, deadline) = (&inbound.admission, inbound.deadline);
                let method = params.method().as_str();
                match core.in_view(method, admission, meta, deadline).await {
                    Ok(core) => core,
                    Err(failure) => {
                        return Answer::failed(Some(&id), &failure).plain(inbound.accepts);
                    }
                }
            }
            // It is refused for that.
            _ => core,
        },
        Or::Second(_) => core,
    };
    serve(core, inbound, id, request).finish().await
}

fn serve(core: Arc<Core>, inbound: Inbound, id: RequestId, request: Box<AnyRequest>) -> Reply {
    // It stays in its box: it is large, and each move of it is a copy.
    let (method, checked) = match *request {
        Or::First(ref params) => {
            let headers = admit::mirrored_headers(&inbound);
            let checked = admit::check(&core, params, headers);
            (params.method().as_str(), checked)
        }
        Or::Second(params) => return task(core, inbound, id, params),
    };
    match checked {
        Ok(tool) => dispatch::dispatch(core, inbound, id, method, request, tool),
        Err(failure) => {
            let answer = Answer::failed(Some(&id), &failure);
            if let Some(mut operation) =
                dispatch::begin_operation(&core, &inbound.admission, &request, &id)
            {
                operation.end(answer.ended());
            }
            Reply::Ready(answer.plain(inbound.accepts))
        }
    }
}

/// Answers a message that could not be decoded: serves a method of another
/// author's extension, refuses all others.
pub(crate) fn unreadable(core: Arc<Core>, inbound: Inbound, error: DecodeError) -> Reply {
    match error {
        DecodeError::UnknownMethod {
            id: Some(id),
            method,
        } if core.extensions.method(&method).is_some() => {
            Reply::pending(async move { extension::serve(core, inbound, id, &method).await })
        }
        error if error.request_id().is_none() && is_notification(&inbound.body) => {
            Reply::Ready(not_accepted())
        }
        error => {
            let id = error.request_id().cloned();
            let headers = admit::mirrored_headers(&inbound);
            let failure = admit::explain(&core, error, &inbound.body, headers);
            Reply::Ready(Answer::failed(id.as_ref(), &failure).plain(inbound.accepts))
        }
    }
}

/// Answers a request about a task. A server without tasks leaves its method to
/// an extension that has it.
fn task(core: Arc<Core>, inbound: Inbound, id: RequestId, request: AnyTaskRequest) -> Reply {
    let dialect = match admit::check_task(&core, &request, admit::mirrored_headers(&inbound)) {
        Ok(dialect) => dialect,
        Err(Failure::UnknownMethod(method)) if core.extensions.method(&method).is_some() => {
            return Reply::pending(
                async move { extension::serve(core, inbound, id, &method).await },
            );
        }
        Err(failure) => {
            let answer = Answer::failed(Some(&id), &failure);
            return Reply::Ready(answer.plain(inbound.accepts));
        }
    };
    tasks::serve(core, inbound, id, request, dialect)
}

/// HTTP-S6, BASE-B7: what is no request is refused by its status alone.
fn not_accepted() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

fn is_notification(body: &[u8]) -> bool {
    matches!(Message::raw(body), Ok(Message::Notification(_)))
}
