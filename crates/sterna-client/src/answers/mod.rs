//! Handlers for a server's questions, and checks of their answers.

mod check;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use sterna_protocol::capabilities::{
    ClientCapabilities, ElicitationCapability, SamplingCapability,
};
use sterna_protocol::elicitation::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams, ElicitResult,
};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::json::JsonObject;
use sterna_protocol::roots::{ListRootsResult, Root};
use sterna_protocol::sampling::{CreateMessageRequestParams, CreateMessageResult};
use tokio::time::Instant;

pub(crate) use check::{admit, check, legible};

use crate::error::{BoxError, Error, Fault};

/// Something a server wants to know before it can finish a call.
///
/// ELICIT-C1: a host must be able to show the user which server asks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question<P> {
    /// Endpoint of the server, as the application named it.
    pub server: Arc<str>,
    /// Name of the tool, the prompt or the resource that is called.
    pub about: Arc<str>,
    /// The server's name for the question. Servers before 2026-07-28 give none: it is
    /// then the only field of a form, or `form`, `url`, `sample` or `roots`.
    pub key: String,
    /// Parameters of the question.
    pub params: P,
}

impl<P> Question<P> {
    pub(crate) fn new(server: Arc<str>, about: Arc<str>, key: String, params: P) -> Self {
        Self {
            server,
            about,
            key,
            params,
        }
    }

    /// The question without its parameters, and those.
    pub(crate) fn take(self) -> (P, Question<()>) {
        let about = Question::new(self.server, self.about, self.key, ());
        (self.params, about)
    }

    /// The same circumstances with another question.
    pub(crate) fn with<Q>(self, params: Q) -> Question<Q> {
        Question::new(self.server, self.about, self.key, params)
    }
}

/// Handler that answers a `P` with an `R`.
pub(crate) type Handler<P, R> =
    Arc<dyn Fn(Question<P>) -> BoxFuture<'static, Result<R, BoxError>> + Send + Sync>;

/// Handlers of the application, each optional.
#[derive(Clone)]
pub(crate) struct Answers {
    pub(crate) form: Option<Handler<ElicitRequestFormParams, ElicitResult>>,
    pub(crate) url: Option<Handler<ElicitRequestUrlParams, ElicitResult>>,
    pub(crate) sample: Option<Handler<CreateMessageRequestParams, CreateMessageResult>>,
    pub(crate) samples_with_tools: bool,
    /// Limits sampling requests.
    pub(crate) sampling: Arc<RateLimit>,
    pub(crate) roots: Option<Handler<(), Vec<Root>>>,
}

impl Answers {
    /// No handlers yet; sampling is limited to `samples_per_minute`.
    pub(crate) fn new(samples_per_minute: u32) -> Self {
        Self {
            form: None,
            url: None,
            sample: None,
            samples_with_tools: false,
            sampling: Arc::new(RateLimit::new(samples_per_minute)),
            roots: None,
        }
    }

    /// Capabilities to declare: exactly those that have a handler (ELICIT-C3).
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = match (&self.form, &self.url) {
            (Some(_), Some(_)) => Some(ElicitationCapability::form_and_url()),
            (Some(_), None) => Some(ElicitationCapability::form()),
            (None, Some(_)) => Some(ElicitationCapability::url()),
            (None, None) => None,
        };
        capabilities.roots = self.roots.as_ref().map(|_| JsonObject::new());
        capabilities.sampling = self.sample.as_ref().map(|_| match self.samples_with_tools {
            true => SamplingCapability::with_tools(),
            false => SamplingCapability::default(),
        });
        capabilities
    }

    /// Has a question answered and looks the answer over.
    pub(crate) async fn answer(
        &self,
        question: Question<InputRequest>,
    ) -> Result<InputResponse, Error> {
        let request = question.params.clone();
        let key = question.key.clone();
        legible(&key, &request)?;
        let response = self.ask(question).await?;
        check(&key, &request, response)
    }

    async fn ask(&self, question: Question<InputRequest>) -> Result<InputResponse, Error> {
        let no_handler = Fault::NoHandler {
            key: question.key.clone(),
            method: question.params.method(),
        };
        let key = question.key.clone();
        let (request, about) = question.take();
        match request {
            InputRequest::Elicit(elicit) => match elicit.params {
                ElicitRequestParams::Form(form) => {
                    run(self.form.as_ref(), about.with(form), no_handler, key).await
                }
                ElicitRequestParams::Url(url) => {
                    run(self.url.as_ref(), about.with(url), no_handler, key).await
                }
                _ => Err(no_handler.into()),
            },
            InputRequest::CreateMessage(create) => {
                if create.params.check().is_err() {
                    return Err(Fault::Broken("a conversation that no model would take").into());
                }
                let tools = create.params.tools.is_some() || create.params.tool_choice.is_some();
                let handler = self.sample.as_ref();
                let able = handler.filter(|_| self.samples_with_tools || !tools);
                if able.is_some() {
                    self.sampling.acquire().await;
                }
                run(able, about.with(create.params), no_handler, key).await
            }
            InputRequest::ListRoots(_) => {
                let roots = async {
                    let handler = self.roots.as_ref().ok_or(no_handler)?;
                    let roots = handler(about.with(())).await;
                    roots.map_err(|source| Fault::Handler { key, source })
                };
                let roots = roots.await?;
                Ok(InputResponse::ListRoots(ListRootsResult::new(roots)))
            }
            _ => Err(no_handler.into()),
        }
    }
}

async fn run<P, R: Into<InputResponse>>(
    handler: Option<&Handler<P, R>>,
    question: Question<P>,
    no_handler: Fault,
    key: String,
) -> Result<InputResponse, Error> {
    let handler = handler.ok_or(no_handler)?;
    match handler(question).await {
        Ok(answer) => Ok(answer.into()),
        Err(source) => Err(Fault::Handler { key, source }.into()),
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("form", &self.form.is_some())
            .field("url", &self.url.is_some())
            .field("sample", &self.sample.is_some())
            .field("roots", &self.roots.is_some())
            .finish_non_exhaustive()
    }
}

/// Rate limit of sampling requests (SAMP-C5): so many in a minute; the others
/// wait for their turn.
#[derive(Debug)]
pub(crate) struct RateLimit {
    per_minute: u32,
    /// When as many as may come at once will have been paid for.
    paid: Mutex<Option<Instant>>,
}

impl RateLimit {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self {
            per_minute: per_minute.max(1),
            paid: Mutex::new(None),
        }
    }

    /// Waits until it is one's turn.
    pub(crate) async fn acquire(&self) {
        let wait = self.enter(Instant::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    /// Takes a place, and says how long it is until its turn.
    fn enter(&self, now: Instant) -> Duration {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let until = paid.map_or(now, |until| until.max(now)) + MINUTE / self.per_minute;
        *paid = Some(until);
        until.duration_since(now).saturating_sub(MINUTE)
    }
}

const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_burst_one_at_a_time_passes() {
        let limit = RateLimit::new(3);
        let start = Instant::now();
        let mut waits = |after| {
            let wait = limit.enter(start + Duration::from_secs(after));
            wait.as_secs()
        };
        assert_eq!([0; 5].map(&mut waits), [0, 0, 0, 20, 40]);
        assert_eq!(waits(40), 20, "what was not used up is not lost");
        assert_eq!([1000; 4].map(waits), [0, 0, 0, 20]);
    }
}
