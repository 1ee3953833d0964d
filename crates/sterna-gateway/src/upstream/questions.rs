//! Questions of a server of before 2026-07-28, on their way to the call that
//! they belong to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use sterna_client::{BoxError, Builder, Question};
use sterna_protocol::capabilities::{ClientCapabilities, SamplingCapability};
use sterna_protocol::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::RawJson;
use sterna_protocol::roots::ListRootsResult;
use sterna_protocol::sampling::CreateMessageResult;
use tokio::sync::{Mutex, mpsc, oneshot};

/// A question that waits for its answer. Dropping it refuses the question.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    pub(crate) key: String,
    pub(crate) request: InputRequest,
    reply: oneshot::Sender<RawJson>,
}

impl OpenQuestion {
    /// Sends the answer if it fits the question; else returns the question, which
    /// stays open.
    pub(crate) fn answer(self, answer: &RawJson) -> Option<Self> {
        if !fits(&self.request, answer) {
            return Some(self);
        }
        // A server that has taken its question back needs no answer.
        let _ = self.reply.send(answer.clone());
        None
    }
}

/// Returns `true` if `answer` is one to `request`.
fn fits(request: &InputRequest, answer: &RawJson) -> bool {
    match request {
        InputRequest::Elicit(asked) => {
            let Ok(result) = answer.decode::<ElicitResult>() else {
                return false;
            };
            match (&result.action, &asked.params) {
                (ElicitAction::Accept, ElicitRequestParams::Form(form)) => {
                    let content = result.content;
                    content.is_some_and(|content| form.requested_schema.check(content).is_ok())
                }
                (ElicitAction::Accept | ElicitAction::Cancel | ElicitAction::Decline, _) => true,
                _ => false,
            }
        }
        InputRequest::CreateMessage(_) => answer.decode::<CreateMessageResult>().is_ok(),
        InputRequest::ListRoots(_) => answer.decode::<ListRootsResult>().is_ok(),
        _ => false,
    }
}

/// Questions of one session. A session is leased to one call at a time that may
/// be asked, so that each question belongs to a call without doubt.
#[derive(Debug)]
pub(crate) struct QuestionQueue {
    server: String,
    leased: AtomicBool,
    sender: mpsc::Sender<OpenQuestion>,
    receiver: Mutex<mpsc::Receiver<OpenQuestion>>,
}

impl QuestionQueue {
    pub(super) fn new(server: &str) -> Arc<Self> {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        Arc::new(Self {
            server: server.to_owned(),
            leased: AtomicBool::new(false),
            sender,
            receiver: Mutex::new(receiver),
        })
    }

    pub(super) fn set_leased(&self, leased: bool) {
        self.leased.store(leased, Ordering::SeqCst);
    }

    /// Waits for the next question.
    pub(crate) async fn next(&self) -> OpenQuestion {
        let mut receiver = self.receiver.lock().await;
        match receiver.recv().await {
            Some(question) => question,
            // Not while this queue has a sender itself.
            None => std::future::pending().await,
        }
    }

    /// Takes all questions that wait.
    pub(crate) async fn take_waiting(&self) -> Vec<OpenQuestion> {
        let mut receiver = self.receiver.lock().await;
        std::iter::from_fn(|| receiver.try_recv().ok()).collect()
    }

    async fn ask<R: DeserializeOwned>(
        &self,
        key: String,
        request: InputRequest,
    ) -> Result<R, BoxError> {
        // Some servers ask for the roots as soon as a session is open: the first call answers.
        let may_wait = matches!(request, InputRequest::ListRoots(_));
        if !may_wait && !self.leased.load(Ordering::SeqCst) {
            let (server, method) = (&self.server, request.method());
            tracing::warn!(target: "sterna::gateway", server, method, "a question that belongs to no call was refused");
            return Err("the question belongs to no call".into());
        }
        let (reply, answered) = oneshot::channel();
        let question = OpenQuestion {
            key,
            request,
            reply,
        };
        self.sender.send(question).await?;
        let answer = answered
            .await
            .map_err(|_| "the call that was asked has ended")?;
        Ok(answer.decode()?)
    }

    /// Has `builder` declare `capabilities` and put all questions into the queue.
    pub(super) fn attach(
        self: &Arc<Self>,
        mut builder: Builder,
        capabilities: &ClientCapabilities,
    ) -> Builder {
        if let Some(elicitation) = &capabilities.elicitation {
            if elicitation.has_form() {
                let queue = Arc::clone(self);
                builder = builder.on_form(move |question| {
                    let queue = Arc::clone(&queue);
                    let Question { key, params, .. } = question;
                    async move { queue.ask(key, InputRequest::elicit(params)).await }
                });
            }
            if elicitation.has_url() {
                let queue = Arc::clone(self);
                builder = builder.on_url(move |question| {
                    let queue = Arc::clone(&queue);
                    let Question { key, params, .. } = question;
                    async move { queue.ask(key, InputRequest::elicit(params)).await }
                });
            }
        }
        if let Some(SamplingCapability { tools, .. }) = &capabilities.sampling {
            let queue = Arc::clone(self);
            let sample = move |question| {
                let queue = Arc::clone(&queue);
                let Question { key, params, .. } = question;
                async move { queue.ask(key, InputRequest::create_message(params)).await }
            };
            builder = match tools {
                Some(_) => builder.on_sample_with_tools(sample),
                None => builder.on_sample(sample),
            };
        }
        if capabilities.roots.is_some() {
            let queue = Arc::clone(self);
            builder = builder.on_roots(move |question| {
                let queue = Arc::clone(&queue);
                let key = question.key;
                async move {
                    let listed: ListRootsResult =
                        queue.ask(key, InputRequest::list_roots()).await?;
                    Ok(listed.roots)
                }
            });
        }
        builder
    }
}

/// Questions of one session that may wait for their call to look.
const MOST_WAITING: usize = 16;
