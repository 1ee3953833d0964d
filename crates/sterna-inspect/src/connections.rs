//! Connections to the inspected server: one for each era that is asked for.

use std::sync::Arc;
use std::time::Duration;

use sterna_client::{BoxError, Builder, Client, Era, Error, Question};
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::elicitation::{ElicitRequestFormParams, ElicitRequestUrlParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::sampling::{CreateMessageRequestParams, CreateMessageResult};
use thiserror::Error as ThisError;
use tokio::sync::Mutex;

use crate::calls::Calls;

/// Prepares a connection to the inspected server. It is called once for each
/// era, and again after a connection that failed.
pub type Connector = Arc<dyn Fn() -> Result<Builder, BoxError> + Send + Sync>;

/// The connections that were made so far.
pub(crate) struct Connections {
    connector: Connector,
    patience: Duration,
    calls: Arc<Calls>,
    any: Mutex<Option<Client>>,
    legacy: Mutex<Option<Client>>,
    modern: Mutex<Option<Client>>,
}

/// There is no connection.
#[derive(Debug, ThisError)]
pub(crate) enum ConnectError {
    #[error("the server cannot be used")]
    Client(#[from] Error),
    #[error("the connection cannot be prepared")]
    Prepare(#[source] BoxError),
    #[error("the server did not answer within {0:?}")]
    Silent(Duration),
}

impl Connections {
    pub(crate) fn new(connector: Connector, patience: Duration, calls: Arc<Calls>) -> Self {
        Self {
            connector,
            patience,
            calls,
            any: Mutex::new(None),
            legacy: Mutex::new(None),
            modern: Mutex::new(None),
        }
    }

    /// The way to a connection of its own.
    pub(crate) fn connector(&self) -> Connector {
        Arc::clone(&self.connector)
    }

    /// The connection in the era that the server and the client agree on.
    pub(crate) async fn client(&self) -> Result<Client, ConnectError> {
        self.made(&self.any, Era::Any).await
    }

    /// The connection in one era.
    pub(crate) async fn client_of(&self, era: Era) -> Result<Client, ConnectError> {
        let known = self.any.lock().await.clone();
        if let Some(client) = known.filter(|client| client.era() == era) {
            return Ok(client);
        }
        match era {
            Era::Legacy => self.made(&self.legacy, era).await,
            Era::Modern => self.made(&self.modern, era).await,
            _ => self.client().await,
        }
    }

    /// Forgets all connections, so that the next request connects again.
    pub(crate) async fn close(&self) {
        for slot in [&self.any, &self.legacy, &self.modern] {
            if let Some(client) = slot.lock().await.take() {
                client.close().await;
            }
        }
    }

    async fn made(&self, slot: &Mutex<Option<Client>>, era: Era) -> Result<Client, ConnectError> {
        let mut slot = slot.lock().await;
        if let Some(client) = &*slot {
            return Ok(client.clone());
        }
        let builder = (self.connector)().map_err(ConnectError::Prepare)?;
        let builder = match era {
            Era::Any => builder,
            era => builder.era(era),
        };
        let connecting = self.answered_by_hand(builder).connect();
        let connected = tokio::time::timeout(self.patience, connecting).await;
        let client = connected.map_err(|_| ConnectError::Silent(self.patience))??;
        *slot = Some(client.clone());
        Ok(client)
    }

    /// Has the pages show messages and questions.
    fn answered_by_hand(&self, builder: Builder) -> Builder {
        let seen = self.calls.clone();
        let (forms, urls) = (self.calls.clone(), self.calls.clone());
        let (samples, roots) = (self.calls.clone(), self.calls.clone());
        builder
            .extension(&ExtensionId::TASKS)
            .on_wire(move |message| seen.saw(message))
            .on_form(move |question: Question<ElicitRequestFormParams>| {
                let calls = forms.clone();
                async move {
                    let request = InputRequest::elicit(question.params);
                    elicited(calls.ask(&question.about, question.key, request).await)
                }
            })
            .on_url(move |question: Question<ElicitRequestUrlParams>| {
                let calls = urls.clone();
                async move {
                    let request = InputRequest::elicit(question.params);
                    elicited(calls.ask(&question.about, question.key, request).await)
                }
            })
            .on_sample(move |question: Question<CreateMessageRequestParams>| {
                let calls = samples.clone();
                async move {
                    let request = InputRequest::create_message(question.params);
                    let answer = calls.ask(&question.about, question.key, request).await;
                    let written: Result<CreateMessageResult, BoxError> = match answer {
                        Some(InputResponse::CreateMessage(written)) => Ok(written),
                        _ => Err(UNANSWERED.into()),
                    };
                    written
                }
            })
            .on_roots(move |question: Question<()>| {
                let calls = roots.clone();
                async move {
                    let request = InputRequest::list_roots();
                    match calls.ask(&question.about, question.key, request).await {
                        Some(InputResponse::ListRoots(listed)) => Ok(listed.roots),
                        _ => Err(UNANSWERED.into()),
                    }
                }
            })
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

fn elicited(answer: Option<InputResponse>) -> Result<ElicitResult, BoxError> {
    match answer {
        Some(InputResponse::Elicit(result)) => Ok(result),
        _ => Err(UNANSWERED.into()),
    }
}

const UNANSWERED: &str = "the question was not answered";
