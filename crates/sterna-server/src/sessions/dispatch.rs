//! Dispatches the messages of a session.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{Extensions, HeaderMap, Response, StatusCode};
use sterna_http::auth::Caller;
use sterna_http::{
    Accepts, Admission, Budget, Inbound, Outbox, Refusal, ResponseBody, Shutdown, Transport, reply,
};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::jsonrpc::{DecodeError, ErrorResponse, Message, RequestId};
use sterna_protocol::legacy::{ClientNotification, ClientRequest};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::result::EmptyResult;
use sterna_protocol::version::ProtocolVersion;
use sterna_store::Error;

use super::session::Session;
use super::{answer_relay, calls, prompter, tasks};
use crate::core::Core;
use crate::failure::Failure;
use crate::reply::RequestSpan;
use crate::reply::{Answer, complete, page};
use crate::rounds::Wanted;
use crate::session_table::ClientAnswer;
use crate::sink::MessageSink;

/// Context of the messages of one POST.
#[derive(Clone)]
pub(super) struct Post {
    pub(super) core: Arc<Core>,
    pub(super) session: Arc<Session>,
    pub(super) admission: Admission,
    pub(super) extensions: Extensions,
    pub(super) headers: Arc<HeaderMap>,
    pub(super) accepts: Accepts,
    pub(super) deadline: Instant,
    pub(super) shutdown: Shutdown,
    /// Messages that go out before the answer.
    pub(super) sink: MessageSink,
    /// Budget that the session's memory is charged to.
    pub(super) memory: Arc<Budget>,
}

/// A request at work. It ends with `None` if the client took it back.
pub(super) type Work = Pin<Box<dyn Future<Output = Option<Answer>> + Send>>;

/// Answers one request.
pub(crate) async fn request(
    core: Arc<Core>,
    inbound: Inbound,
    session: Arc<Session>,
    id: RequestId,
    request: ClientRequest,
) -> Response<ResponseBody> {
    let (accepts, transport) = (inbound.accepts, inbound.transport);
    let (outbox, inbox) = inbound.outbox();
    let patience = inbound.patience;
    let post = Post::new(core, inbound, session, outbox);
    let work: Work = Box::pin(serve(post, id, request));
    let plain = move |answer: Option<Answer>| match answer {
        Some(answer) => answer.plain(accepts),
        None => reply::accepted(),
    };
    if !accepts.events() {
        return plain(work.await);
    }
    let last = move |answer: Option<Answer>| match answer {
        Some(answer) => answer.last_of(transport),
        None => nothing(transport),
    };
    reply::respond_or_stream(work, inbox, patience, plain, last).await
}

/// The end of a stream whose request was cancelled: a comment, or no line.
fn nothing(transport: Transport) -> Bytes {
    match transport {
        Transport::Lines => Bytes::new(),
        _ => Bytes::from_static(b":\n\n"),
    }
}

impl Post {
    pub(super) fn new(
        core: Arc<Core>,
        inbound: Inbound,
        session: Arc<Session>,
        outbox: Outbox,
    ) -> Self {
        Self {
            core,
            session,
            admission: inbound.admission,
            extensions: inbound.head.extensions,
            headers: Arc::new(inbound.head.headers),
            accepts: inbound.accepts,
            deadline: inbound.deadline,
            shutdown: inbound.shutdown,
            memory: inbound.memory,
            sink: MessageSink::new(outbox, inbound.transport),
        }
    }
}

/// Serves one request to its answer.
pub(super) async fn serve(mut post: Post, id: RequestId, request: ClientRequest) -> Option<Answer> {
    if post.core.backend.is_some() {
        // Boxed: few servers have a backend, and it would make all calls as large.
        match Box::pin(in_view(&post, request.method().as_str())).await {
            Ok(core) => post.core = core,
            Err(failure) => return Some(calls::refused(id, failure)),
        }
    }
    let (method, name) = (request.method().as_str(), name_of(&request));
    let allowed = post.admission.may(method, name);
    if let Err(refusal) = allowed.and_then(|()| may_watch(&post.admission, &request)) {
        let failure = Failure::Forbidden(Box::new(refusal));
        return Some(Answer::failed(Some(&id), &failure));
    }
    let mut operation = RequestSpan::begin(
        &post.core,
        &post.admission,
        method,
        name,
        &id,
        &post.session.version,
    );
    let answering = pin!(async {
        let answer = answer(post, id, request).await;
        let ended = answer.as_ref().map(Answer::ended);
        (answer, ended)
    });
    operation.instrument(answering).await
}

/// Returns the core with what the backend offers to the client of the session.
async fn in_view(post: &Post, method: &'static str) -> Result<Arc<Core>, Failure> {
    let mut meta = post.session.meta(None);
    if !post.accepts.events() {
        // Without a stream nothing can be asked.
        meta.client_capabilities = ClientCapabilities::default().into();
    }
    let core = Arc::clone(&post.core);
    core.in_view(method, &post.admission, &meta, post.deadline)
        .await
}

/// Answers a request that its sender may make.
async fn answer(post: Post, id: RequestId, request: ClientRequest) -> Option<Answer> {
    let method = request.method().as_str();
    let core = Arc::clone(&post.core);
    let lists = match post.session.version < ProtocolVersion::V2025_11_25 {
        true => &core.cached.lists_2025_06_18,
        false => &core.cached.lists_2025_11_25,
    };
    let answered = match request {
        ClientRequest::CallTool(params) => {
            let task = match tasks::decide(&core, &post, &params.name, params.task) {
                Ok(task) => task,
                Err(failure) => return Some(calls::refused(id, failure)),
            };
            let tool = core.offers.tools.get(&params.name).map(|tool| &**tool);
            let wanted = Wanted::tool(&core, &post.admission, tool, params.name, params.arguments);
            let Some(task) = task else {
                return calls::run(post, id, wanted, params.meta, calls::finish_tool).await;
            };
            let created = tasks::begin(&post, wanted, task, params.meta).await;
            created.map(|created| Answer::done(id.clone(), &created))
        }
        ClientRequest::GetTask(params) if tasks::has_tasks(&core, &post.session) => {
            let shown = tasks::get(&post, &params.task_id).await;
            shown.map(|task| Answer::done(id.clone(), &task))
        }
        ClientRequest::GetTaskPayload(params) if tasks::has_tasks(&core, &post.session) => {
            return tasks::wait(post, id, &params.task_id).await;
        }
        ClientRequest::CancelTask(params) if tasks::has_tasks(&core, &post.session) => {
            let shown = tasks::cancel(&post, &params.task_id).await;
            shown.map(|task| Answer::done(id.clone(), &task))
        }
        ClientRequest::ListTasks(params)
            if tasks::has_tasks(&core, &post.session)
                && tasks::has_name(post.admission.caller()) =>
        {
            let cursor = params.and_then(|params| params.cursor);
            let listed = tasks::list(&post, cursor).await;
            listed.map(|tasks| Answer::done(id.clone(), &tasks))
        }
        ClientRequest::GetPrompt(params) => {
            let wanted = Wanted::prompt(&core, &post.admission, params.name, params.arguments);
            return calls::run(post, id, wanted, params.meta, |_, _, _| Ok(())).await;
        }
        ClientRequest::ReadResource(params) => {
            let wanted = Wanted::resource(&core, &post.admission, params.uri);
            return calls::run(post, id, wanted, params.meta, calls::finish_resource).await;
        }
        ClientRequest::Ping(_) => Ok(empty(&id)),
        // LOG-S4
        ClientRequest::SetLevel(params) if matches!(params.level, LoggingLevel::Other(_)) => {
            let levels = "`level` must be debug, info, notice, warning, error, critical, alert or \
                          emergency";
            Err(Failure::params(levels))
        }
        ClientRequest::SetLevel(params) => core.session_table.live(post.session.key).map(|live| {
            live.set_level(params.level);
            empty(&id)
        }),
        ClientRequest::Subscribe(params) if core.has_resources() => {
            let watched = core
                .session_table
                .watch(post.session.key, &params.uri, &post.memory);
            watched.map(|()| empty(&id))
        }
        ClientRequest::Unsubscribe(params) if core.has_resources() => {
            if let Some(live) = core.session_table.find(&post.session.key) {
                live.unwatch(&params.uri);
            }
            Ok(empty(&id))
        }
        ClientRequest::ListTools(params) if core.offers.has_tools() => {
            let cursor = params.and_then(|params| params.cursor);
            page(&core, &post.admission, &id, &lists.tools, method, cursor)
        }
        ClientRequest::ListPrompts(params) if core.offers.has_prompts() => {
            let cursor = params.and_then(|params| params.cursor);
            page(&core, &post.admission, &id, &lists.prompts, method, cursor)
        }
        ClientRequest::ListResources(params) if core.has_resources() => {
            let cursor = params.and_then(|params| params.cursor);
            page(
                &core,
                &post.admission,
                &id,
                &lists.resources,
                method,
                cursor,
            )
        }
        ClientRequest::ListResourceTemplates(params) if core.has_resources() => {
            let cursor = params.and_then(|params| params.cursor);
            page(
                &core,
                &post.admission,
                &id,
                &lists.templates,
                method,
                cursor,
            )
        }
        ClientRequest::CompleteArgument(params) if core.completes() => {
            let (reference, context) = (params.reference, params.context);
            complete(&core, &post.admission, reference, params.argument, context)
                .await
                .map(|result| Answer::done(id.clone(), &result))
        }
        // What was not declared is not served; a session is opened once.
        _ => Err(Failure::UnknownMethod(method.to_owned())),
    };
    Some(answered.unwrap_or_else(|failure| Answer::refused(id, failure.to_session_wire())))
}

fn empty(id: &RequestId) -> Answer {
    Answer::done(id.clone(), &EmptyResult::default())
}

/// Checks that the caller may read what it subscribes to.
fn may_watch(admission: &Admission, request: &ClientRequest) -> Result<(), Refusal> {
    let ClientRequest::Subscribe(params) = request else {
        return Ok(());
    };
    admission.may("resources/subscribe", Some(&params.uri))?;
    admission.may("resources/read", Some(&params.uri))
}

fn name_of(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallTool(params) => Some(&params.name),
        ClientRequest::GetPrompt(params) => Some(&params.name),
        ClientRequest::ReadResource(params) => Some(&params.uri),
        _ => None,
    }
}

/// Takes note of a notification.
pub(crate) fn notification(core: &Core, session: &Session, notification: ClientNotification) {
    if let ClientNotification::Cancelled(params) = notification
        && let Some(id) = params.request_id
        && let Some(live) = core.session_table.find(&session.key)
    {
        live.cancel(&id);
    }
}

/// Delivers the answer to a question to the call that asked, here or at another
/// instance.
///
/// # Errors
///
/// The store failed that would have brought it elsewhere.
pub(super) async fn response(
    core: &Core,
    caller: &Caller,
    session: &Session,
    id: &RequestId,
    answer: ClientAnswer,
) -> Result<(), Error> {
    let Some(number) = prompter::read_id(core.session_table.instance(), id) else {
        return answer_relay::leave(core, caller, session, id, answer).await;
    };
    if let Some(live) = core.session_table.find(&session.key) {
        live.answer(number, answer);
    }
    Ok(())
}

/// Refuses a message that could not be decoded.
pub(super) fn unreadable(
    error: &DecodeError,
    body: &[u8],
    accepts: Accepts,
) -> Response<ResponseBody> {
    if let Some(id) = error.request_id() {
        return Answer::refused(id.clone(), error.into()).plain(accepts);
    }
    // Unknown notifications are ignored.
    if matches!(Message::raw(body), Ok(Message::Notification(_))) {
        return reply::accepted();
    }
    let mut message = Vec::with_capacity(96);
    ErrorResponse::new(None, error.into())
        .encode(&mut message)
        .expect("an error holds JSON only");
    reply::json(StatusCode::BAD_REQUEST, message)
}
