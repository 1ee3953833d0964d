//! Accepts a request as an operation: it becomes a row of the store, and the
//! response says where to look.

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, LOCATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use sterna_flow::{FlowId, Journal};
use sterna_runner::tasks::stored_entry;
use sterna_seal::Principal;
use sterna_store::{Entry, Error, ErrorKind, NewTask, Status, Task, TaskId};

use super::incoming::RequestTarget;
use crate::core::{RouteCore, RouteOperation};
use crate::fault::Fault;
use crate::operations::{
    PREFERENCE_APPLIED, RequestParts, RespondAsync, StoredAnswer, StoredRequest, replay,
};
use crate::resume::digest_of;
use crate::stored_response::StoredResponse;

/// Flow that is to be an operation.
pub(super) struct BegunFlow {
    pub(super) caller: Principal,
    pub(super) flow: FlowId,
}

/// Accepts a request whose handler has not run in this round. `answers` are those
/// that came with it, to questions that `journal` has asked.
///
/// Its extractors run first: a request that they reject is answered at once.
pub(super) async fn at_once<S>(
    route: &RouteCore<S>,
    operation: &RouteOperation,
    begun: &BegunFlow,
    (head, target): (Parts, &RequestTarget),
    (journal, answers): (&Journal, Vec<(String, Bytes)>),
) -> Result<Response, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    let request = Request::from_parts(head.clone(), Body::from(target.body.clone()));
    let state = route.resume.state.clone();
    if let Err(rejection) = route.handler.try_extract(request, state).await {
        return Ok(rejection);
    }
    let fingerprint = |key: &str| {
        let mut asked = journal.asked().iter();
        let asked = asked.find(|asked| asked.key.as_str() == key);
        asked.map(|asked| *asked.fingerprint.as_bytes())
    };
    let answers = answers.into_iter().filter_map(|(key, answer)| {
        let answer = String::from_utf8(answer.into()).ok()?;
        let fingerprint = fingerprint(&key)?;
        Some(StoredAnswer {
            key,
            fingerprint,
            answer,
        })
    });
    let stored = store_request(route, operation, begun, (head, target), answers.collect());
    create(route, operation, begun, stored, journal).await
}

/// Accepts a request whose handler goes on as an operation.
pub(super) async fn promote<S>(
    route: &RouteCore<S>,
    operation: &RouteOperation,
    begun: &BegunFlow,
    (head, target): (Parts, &RequestTarget),
    journal: &Journal,
) -> Result<Response, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    let stored = store_request(route, operation, begun, (head, target), Vec::new());
    create(route, operation, begun, stored, journal).await
}

fn store_request<S>(
    route: &RouteCore<S>,
    operation: &RouteOperation,
    begun: &BegunFlow,
    (head, target): (Parts, &RequestTarget),
    answers: Vec<StoredAnswer>,
) -> StoredRequest {
    StoredRequest::new(RequestParts {
        build: route.resume.build,
        version: route.resume.config.flow.version,
        caller: &begun.caller,
        method: &target.method,
        uri: &target.uri,
        nested_uri: &head.uri,
        route: target.route.as_ref().map(MatchedPath::as_str),
        headers: &head.headers,
        kept_headers: &operation.settings.kept_headers,
        answers,
        body: target.body.clone(),
    })
}

async fn create<S>(
    route: &RouteCore<S>,
    operation: &RouteOperation,
    begun: &BegunFlow,
    stored: StoredRequest,
    journal: &Journal,
) -> Result<Response, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    can_be_replayed(route, operation, &stored).await?;
    let owner = route.owner_of(&begun.caller);
    let target = operation.target.clone();
    let id = operation_id(begun.flow);
    let mut task = NewTask::new(id, owner, begun.flow, target, stored.write());
    let entries = journal.entries().iter();
    let entries = entries.map(|entry| stored_entry(entry).ok_or(Fault::Internal));
    task.journal = entries.collect::<Result<Vec<Entry>, _>>()?;
    task.ttl = operation.lifetime();
    task.quota = operation.settings.tasks.per_owner;
    let created = operation.place.store.create(task).await;
    let summary = created.map_err(|error| not_created(operation, &error))?;
    operation.place.queue.notify_workers();
    route.resume.metrics.count_accepted();
    Ok(accepted(operation, &Task::new(summary)))
}

/// Checks that a worker will be able to read the request: what an extractor needs
/// besides may be lost, such as the user that a middleware has found.
async fn can_be_replayed<S>(
    route: &RouteCore<S>,
    operation: &RouteOperation,
    stored: &StoredRequest,
) -> Result<(), Fault>
where
    S: Clone + Send + Sync + 'static,
{
    let replayed = replay(stored, operation.settings.restore.as_deref()).await;
    let request = replayed.ok_or(Fault::Internal)?;
    let state = route.resume.state.clone();
    let extracted = route.handler.try_extract(request, state).await;
    extracted.map_err(|rejection| {
        let (operation, status) = (operation.target.as_str(), rejection.status());
        tracing::error!(
            target: "sterna::axum",
            operation, %status,
            "MR0621: an extractor of the handler rejects the request as it is stored"
        );
        Fault::Internal
    })
}

/// Returns the id of the operation that `flow` becomes. The same for every attempt
/// to create it, so that a request that is repeated begins one.
fn operation_id(flow: FlowId) -> TaskId {
    let digest = digest_of("sterna operation v1", &[flow.as_bytes()]);
    TaskId::from_bytes(*digest.first_chunk().expect("a digest is longer than an id"))
}

fn not_created(operation: &RouteOperation, error: &Error) -> Fault {
    if error.kind() == ErrorKind::Quota {
        let most = operation.settings.tasks.per_owner.unwrap_or_default();
        tracing::info!(target: "sterna::axum", most, "MR0411: a caller has too many unfinished operations");
        return Fault::TooManyOperations;
    }
    operation.place.queue.health().note(error);
    Fault::broken("MR0404: an operation cannot be begun", error)
}

/// Returns the response that says where an operation is.
fn accepted(operation: &RouteOperation, task: &Task) -> Response {
    let settings = &operation.settings;
    let mut response = settings.represent(task).into_response();
    *response.status_mut() = StatusCode::ACCEPTED;
    let headers = response.headers_mut();
    let location = settings.location(task.summary.id);
    let location = HeaderValue::try_from(location).expect("a path of plain segments");
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
        .entry(RETRY_AFTER)
        .or_insert(HeaderValue::from_static("1"));
    response
}

/// Applies the preference of a client to the response of its request.
///
/// If that says where an operation is, it becomes the response of the handler,
/// once there is one within the time that the client waits.
pub(super) async fn prefer<S>(
    route: &RouteCore<S>,
    operation: &RouteOperation,
    (preferred, caller): (RespondAsync, &Principal),
    mut response: Response,
) -> Response {
    let id = match response.headers().get(LOCATION) {
        Some(location) if response.status() == StatusCode::ACCEPTED => {
            let location = location.to_str().unwrap_or_default();
            operation.settings.at_location(location)
        }
        _ => None,
    };
    let Some(id) = id else {
        return response;
    };
    if let Some(longest) = preferred.wait {
        let owner = route.owner_of(caller);
        match operation.place.wait(owner, id, longest).await {
            Ok(Some(task)) => response = shown(operation, &task),
            Ok(None) => {}
            Err(error) => {
                // It is accepted all the same, and its client knows where it is.
                tracing::warn!(target: "sterna::axum", %error, "MR0404: an operation cannot be waited for");
            }
        }
    }
    let headers = response.headers_mut();
    headers.insert(PREFERENCE_APPLIED, preferred.applied());
    response
}

/// Returns the response of the handler, or one that says where the operation is.
fn shown(operation: &RouteOperation, task: &Task) -> Response {
    let ended = matches!(task.summary.status, Status::Completed | Status::Failed);
    let result = task.outcome.as_ref().filter(|_| ended);
    let result = result.and_then(|outcome| outcome.payload());
    let result = result.and_then(|bytes| StoredResponse::read(bytes.clone()));
    match result {
        Some(result) => result.into_response(),
        None => accepted(operation, task),
    }
}
