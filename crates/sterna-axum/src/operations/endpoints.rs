//! The resource of an operation: it is read, answered and cancelled, by the
//! caller who began it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use sterna_store::{Error, Owner, Task, TaskId};

use super::{OperationRoute, OperationStore, Operations, RegisteredRoutes, answers};
use crate::fault::Fault;
use crate::problem::Problem;

impl Operations {
    /// Returns the router of the operations: `GET` and `DELETE` of
    /// `{path}/{id}`, `POST` of `{path}/{id}/answers`.
    ///
    /// Merge it where [`at`](Self::at) says, behind the same authentication as the
    /// routes that begin operations.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        let (shown, cancelled, answered) = (self.clone(), self.clone(), self.clone());
        let show = async move |Path(id): Path<String>, request: Request| {
            respond(shown.show(&id, request).await)
        };
        let cancel = async move |Path(id): Path<String>, request: Request| {
            respond(cancelled.cancel(&id, request).await)
        };
        let answer = async move |Path(id): Path<String>, request: Request| {
            respond(answered.answer(&id, request).await)
        };
        let path = &self.settings.path;
        Router::new()
            .route(&format!("{path}/{{id}}"), get(show).delete(cancel))
            .route(&format!("{path}/{{id}}/answers"), post(answer))
    }

    async fn show(&self, id: &str, request: Request) -> Result<Response, Refusal> {
        let (head, _) = request.into_parts();
        let found = self.find(id, &head).await?;
        let shown = self.settings.represent(&found.task);
        Ok(shown.respond(Some(&head.headers)))
    }

    async fn cancel(&self, id: &str, request: Request) -> Result<Response, Refusal> {
        let (head, _) = request.into_parts();
        let found = self.find(id, &head).await?;
        let store = &found.place.store;
        store.cancel(found.owner, found.id).await?;
        self.changed(found).await
    }

    async fn answer(&self, id: &str, request: Request) -> Result<Response, Refusal> {
        let (head, body) = request.into_parts();
        let found = self.find(id, &head).await?;
        let media_type = head.headers.get(CONTENT_TYPE);
        answers::check_type(media_type)?;
        let body = axum::body::to_bytes(body, self.settings.max_answers).await;
        let body = body.map_err(|_| Fault::TooLarge)?;
        let answers = answers::read(&body, &found.task, found.route.as_deref())?;
        let store = &found.place.store;
        store.answer(found.owner, found.id, answers).await?;
        self.changed(found).await
    }

    /// Finds an operation for the caller of a request. The caller is found as each
    /// route finds it: one of another caller is as unknown as one that never was.
    async fn find(&self, id: &str, head: &Parts) -> Result<FoundOperation, Refusal> {
        let registered = self.registered().ok_or(Refusal::Unknown)?;
        let RegisteredRoutes { place, by_target } = registered;
        let mut owners: Vec<Owner> = Vec::new();
        for owner in by_target.values().filter_map(|route| route.owner(head)) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        if owners.is_empty() {
            return Err(Fault::Unauthorized.into());
        }
        let id = id.parse().map_err(|_| Refusal::Unknown)?;
        for owner in owners {
            if let Some(task) = place.store.read(owner, id).await? {
                let route = by_target.get(&task.summary.target).cloned();
                return Ok(FoundOperation {
                    place,
                    route,
                    owner,
                    id,
                    task,
                });
            }
        }
        Err(Refusal::Unknown)
    }

    /// Wakes the workers of an operation that was changed, and shows it.
    async fn changed(&self, found: FoundOperation) -> Result<Response, Refusal> {
        let FoundOperation {
            place, owner, id, ..
        } = found;
        place.queue.notify_workers();
        place.queue.notify_changed(id);
        let task = place.store.read(owner, id).await?;
        let shown = self.settings.represent(&task.ok_or(Refusal::Unknown)?);
        Ok(shown.respond(None))
    }
}

/// Operation of the caller of a request.
struct FoundOperation {
    place: OperationStore,
    /// Route that began it, if this instance has it.
    route: Option<Arc<dyn OperationRoute>>,
    owner: Owner,
    id: TaskId,
    task: Task,
}

/// Reason for which a request about an operation is refused.
enum Refusal {
    Fault(Fault),
    Problem(Problem),
    /// There is no such operation, or it is another caller's.
    Unknown,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let what = "MR0404: an operation cannot be read or changed";
        Self::Fault(Fault::broken(what, &error))
    }
}

fn respond(result: Result<Response, Refusal>) -> Response {
    match result {
        Ok(response) => response,
        Err(Refusal::Fault(fault)) => fault.into_response(),
        Err(Refusal::Problem(problem)) => problem.into_response(),
        Err(Refusal::Unknown) => {
            let title = "There is no such operation";
            Problem::ours(StatusCode::NOT_FOUND, "no-such-operation", title).into_response()
        }
    }
}
