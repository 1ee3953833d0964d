use std::sync::Arc;

use futures::future::BoxFuture;
use http::HeaderMap;
use serde::Serialize;
use serde_json::value::RawValue;
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::jsonrpc::{
    Dispatch, ErrorCode, ErrorObject, ErrorResponse, RequestId, ResultResponse,
};
use sterna_protocol::legacy::{
    Cancelled, CancelledNotificationParams, ElicitRequestParams, ServerRequest,
};
use sterna_protocol::methods::NotificationMethod as _;
use sterna_protocol::result::EmptyResult;

use super::asked::question_name;
use super::broadcast::Broadcast;
use super::open_questions::OpenQuestions;
use super::running_calls::RunningCalls;
use crate::answers::{Answers, Question};
use crate::error::{Error, Fault, printable};
use crate::transport::Outgoing;

/// Answers the requests of a legacy server during a call.
#[derive(Clone, Debug)]
pub(crate) struct ServerRequests {
    pub(crate) answers: Answers,
    pub(crate) server: Arc<str>,
    /// Name of the tool, the prompt or the resource, if known.
    pub(crate) about: Arc<str>,
    /// Headers of the session.
    pub(crate) headers: HeaderMap,
    /// Every request has a stream of its own, as over HTTP.
    pub(crate) has_streams: bool,
    /// The questions of the session that are being answered.
    pub(crate) open_questions: Arc<OpenQuestions>,
    /// The calls that a question outside of any stream can belong to.
    pub(crate) running: Arc<RunningCalls>,
    /// Receives notifications that belong to no request.
    pub(crate) broadcast: Arc<Broadcast>,
}

impl ServerRequests {
    /// The answer to a request of the server. `None` if the server cancels the
    /// request before.
    pub(crate) fn answer(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> BoxFuture<'static, Option<Outgoing>> {
        let request = read(method, params);
        let task = related_task(params);
        let asked = self.open_questions.begin(id.clone());
        let server_requests = self.clone();
        Box::pin(asked.unless_taken_back(async move {
            match request {
                Ok(None) => pong(id, &server_requests.headers),
                Ok(Some(request)) => {
                    let (server, about) = (
                        server_requests.server.clone(),
                        server_requests.about.clone(),
                    );
                    let key = question_name(&request).to_owned();
                    let question = Question::new(server, about, key, request);
                    match server_requests.answers.answer(question).await {
                        Ok(response) => match about_task(&response, task) {
                            Ok(response) => server_requests.done(id, &response),
                            Err(_) => server_requests.refuse(id, internal()),
                        },
                        Err(error) => server_requests.refuse(id, refusal(&error)),
                    }
                }
                Err(error) => server_requests.refuse(id, *error),
            }
        }))
    }

    /// Hands a question from outside of every call to the call that it can only
    /// belong to. Returns false if there is none: the handlers answer it.
    ///
    /// Over HTTP servers ask for roots by themselves when a session begins, so
    /// that those belong to no call.
    pub(super) fn relay(&self, id: &RequestId, method: &str, params: Option<&RawValue>) -> bool {
        let Ok(Some(request)) = read(method, params) else {
            return false;
        };
        if self.has_streams && matches!(request, InputRequest::ListRoots(_)) {
            return false;
        }
        let bytes = params.map_or(0, |params| params.get().len());
        self.running.relay(id.clone(), request, bytes)
    }

    /// Handles a notification of either stream.
    pub(crate) fn on_notification(&self, method: &str, params: Option<&RawValue>) {
        if method != Cancelled::METHOD {
            return self.broadcast.receive(method, params);
        }
        // CANCEL-B3: what cannot be read, or is not open, takes nothing back.
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let Some(CancelledNotificationParams {
            request_id: Some(id),
            reason,
            ..
        }) = params
        else {
            return;
        };
        // CANCEL-B2: the reason is logged.
        let reason = reason.as_deref().map(printable);
        tracing::debug!(reason, "the server takes a question back");
        self.open_questions.take_back(&id);
        self.running.withdraw(&id);
    }

    /// Returns true while a question is open.
    pub(crate) fn is_waiting_for_user(&self) -> bool {
        self.open_questions.is_under_way()
    }

    fn done(&self, id: RequestId, result: &impl Serialize) -> Outgoing {
        done(id, result, &self.headers)
    }

    fn refuse(&self, id: RequestId, error: ErrorObject) -> Outgoing {
        refusal_of(id, error, &self.headers)
    }
}

/// The answer to a ping.
pub(super) fn pong(id: RequestId, headers: &HeaderMap) -> Outgoing {
    done(id, &EmptyResult::default(), headers)
}

/// The answer to a question.
pub(super) fn done(id: RequestId, result: &impl Serialize, headers: &HeaderMap) -> Outgoing {
    let mut body = Vec::new();
    let written = ResultResponse::new(id.clone(), result).encode(&mut body);
    match written {
        Ok(()) => outgoing(body, headers),
        Err(_) => refusal_of(id, internal(), headers),
    }
}

/// The refusal of a request of the server.
pub(super) fn refusal_of(id: RequestId, error: ErrorObject, headers: &HeaderMap) -> Outgoing {
    let mut body = Vec::new();
    ErrorResponse::new(id, error)
        .encode(&mut body)
        .expect("an error without data has a JSON form");
    outgoing(body, headers)
}

fn outgoing(body: Vec<u8>, headers: &HeaderMap) -> Outgoing {
    let headers = headers.clone();
    let id = None;
    Outgoing { id, headers, body }
}

/// The refusal of a question that the client cannot answer.
pub(super) fn unknown_method() -> ErrorObject {
    ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "Method not found")
}

/// Decodes a question; `None` for a ping.
pub(super) fn read(
    method: &str,
    params: Option<&RawValue>,
) -> Result<Option<InputRequest>, Box<ErrorObject>> {
    let refuse = |code, text| Box::new(ErrorObject::new(code, text));
    let unknown = || Box::new(unknown_method());
    let tag = ServerRequest::find(method).ok_or_else(unknown)?;
    let text = params.map_or("{}", RawValue::get);
    let body = &mut serde_json::Deserializer::from_str(text);
    let request = ServerRequest::decode(tag, body)
        .map_err(|_| refuse(ErrorCode::INVALID_PARAMS, "Invalid params"))?;
    Ok(Some(match request {
        ServerRequest::Ping(_) => return Ok(None),
        ServerRequest::Elicit(ElicitRequestParams::Form(form)) => InputRequest::elicit(form.form),
        ServerRequest::Elicit(ElicitRequestParams::Url(url)) => InputRequest::elicit(url.url),
        ServerRequest::CreateMessage(create) => InputRequest::create_message(create.message),
        ServerRequest::ListRoots(_) => InputRequest::list_roots(),
        _ => return Err(unknown()),
    }))
}

/// The task for which something is asked.
fn related_task(params: Option<&RawValue>) -> Option<RawJson> {
    let mut params: JsonObject = serde_json::from_str(params?.get()).ok()?;
    let mut meta: JsonObject = params.remove("_meta")?.decode().ok()?;
    meta.remove(RELATED_TASK)
}

/// An answer that says for which task it is, as 2025-11-25 wants it.
fn about_task(response: &InputResponse, task: Option<RawJson>) -> serde_json::Result<JsonObject> {
    let mut members: JsonObject = RawJson::of(response)?.decode()?;
    if let Some(task) = task {
        let meta = members.remove("_meta");
        let meta: Option<JsonObject> = meta.map(|meta| meta.decode()).transpose()?;
        let mut meta = meta.unwrap_or_default();
        meta.insert(RELATED_TASK, task);
        members.insert("_meta", RawJson::of(&meta)?);
    }
    Ok(members)
}

/// The only place where a failure here becomes text a server can read.
fn refusal(error: &Error) -> ErrorObject {
    match error.fault() {
        Fault::NoHandler { .. } => unknown_method(),
        _ => internal(),
    }
}

pub(super) fn internal() -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, "The client could not answer")
}

/// Member of `_meta` that names the task of a message.
pub(crate) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
