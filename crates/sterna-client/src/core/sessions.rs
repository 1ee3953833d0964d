//! Asking in a session.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_protocol::jsonrpc::{Request, Untagged};
use sterna_protocol::legacy;

use super::Core;
use crate::call::{Hearing, Listeners};
use crate::error::{Error, Fault};
use crate::session::Session;
use crate::wire::Patience;

impl Core {
    /// Asks what a session of every earlier revision can be asked.
    pub(crate) async fn in_session<T: DeserializeOwned>(
        &self,
        session: &Session,
        about: &str,
        listeners: &Listeners,
        patience: Patience,
        request: impl Fn(i64) -> Result<legacy::ClientRequest, Error>,
    ) -> Result<T, Error> {
        let request = |id| {
            let params = request(id)?;
            Ok((params.method().as_str(), params))
        };
        self.converse(session, about, listeners, patience, request)
            .await
    }

    /// Asks in a session, once more if the server forgot it. `request` makes
    /// the method and the parameters for an id.
    pub(crate) async fn converse<T: DeserializeOwned, P: Serialize>(
        &self,
        session: &Session,
        about: &str,
        listeners: &Listeners,
        patience: Patience,
        request: impl Fn(i64) -> Result<(&'static str, P), Error>,
    ) -> Result<T, Error> {
        let mut opened = session.current().await?;
        let mut renewed = false;
        loop {
            let _logger = match &listeners.log {
                Some((level, tell)) => Some(session.log_to(&opened, level, tell).await),
                None => None,
            };
            let id = self.wire.next_id();
            let (method, params) = request(id)?;
            let headers = opened.headers.clone();
            let hearing = Hearing {
                listeners,
                token: id.into(),
                servant: Some(session.servant(about, headers.clone())),
            };
            let request = Request::new(id.into(), method, params);
            match self.wire.ask(request, headers, &hearing, patience).await {
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

fn is_not_found(error: &Error) -> bool {
    matches!(
        error.fault(),
        Fault::Status { status: 404, .. }
            | Fault::Refused {
                status: Some(404),
                ..
            }
    )
}
