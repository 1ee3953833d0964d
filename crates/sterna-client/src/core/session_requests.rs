//! Asking in a session.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_protocol::jsonrpc::{Request, Untagged};
use sterna_protocol::legacy;

use super::{CallHandler, Core};
use crate::error::{Error, Fault};
use crate::notifications::Listeners;
use crate::session::Session;
use crate::wire::Timeouts;

impl Core {
    /// Asks what a session of every earlier revision can be asked.
    pub(crate) async fn send_in_session<T: DeserializeOwned>(
        &self,
        session: &Session,
        about: &str,
        listeners: &Listeners,
        timeouts: Timeouts,
        request: impl Fn(i64) -> Result<legacy::ClientRequest, Error>,
    ) -> Result<T, Error> {
        let request = |id| {
            let params = request(id)?;
            let call = match &params {
                legacy::ClientRequest::CallTool(call) => Some(call),
                _ => None,
            };
            Ok(SessionRequest {
                method: params.method().as_str(),
                becomes_task: call.is_some_and(|call| call.task.is_some()),
                params,
            })
        };
        self.request_in_session(session, about, listeners, timeouts, request)
            .await
    }

    /// Asks in a session, once more if the server forgot it. `request` makes
    /// what is said under an id.
    ///
    /// # Cancel safety
    ///
    /// Dropped before the answer has come, the request is taken back.
    pub(crate) async fn request_in_session<T: DeserializeOwned, P: Serialize>(
        &self,
        session: &Session,
        about: &str,
        listeners: &Listeners,
        timeouts: Timeouts,
        request: impl Fn(i64) -> Result<SessionRequest<P>, Error>,
    ) -> Result<T, Error> {
        let mut opened = session.current().await?;
        let mut renewed = false;
        loop {
            let _logger = match &listeners.log {
                Some((level, tell)) => Some(session.log_to(&opened, level, tell).await),
                None => None,
            };
            let id = self.wire.next_id();
            let said = request(id)?;
            let headers = opened.headers.clone();
            let hearing = CallHandler {
                listeners,
                token: id.into(),
                server_requests: Some(session.server_requests(about, headers.clone())),
            };
            // 2025-11-25 has what becomes a task cancelled as one.
            let guard = (!said.becomes_task).then(|| session.cancel_guard(id.into(), &headers));
            let _running = (!about.is_empty()).then(|| session.running.enter());
            let request = Request::new(id.into(), said.method, said.params);
            let asked = self.wire.ask(request, headers, &hearing, timeouts).await;
            match (guard, &asked) {
                (Some(guard), Ok(_)) => guard.disarm(),
                (Some(guard), Err(error)) => guard.settle(error),
                (None, _) => {}
            }
            match asked {
                Ok(Untagged(result)) => return Ok(result),
                // The server knew nothing of the request, so it has done nothing.
                Err(error) if !renewed && opened.has_id() && is_not_found(&error) => {
                    renewed = true;
                    opened = session.renew(&opened).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// A request of a session before it has its id.
pub(crate) struct SessionRequest<P> {
    pub(crate) method: &'static str,
    pub(crate) params: P,
    pub(crate) becomes_task: bool,
}

pub(super) fn is_not_found(error: &Error) -> bool {
    matches!(
        error.fault(),
        Fault::Status { status: 404, .. }
            | Fault::Refused {
                status: Some(404),
                ..
            }
    )
}
