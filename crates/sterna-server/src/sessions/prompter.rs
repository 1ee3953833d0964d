//! Questions as requests of our own, on the stream of the request they serve.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use serde_json::json;
use sterna_protocol::elicitation::ElicitRequestParams;
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::RawJson;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::legacy::{
    CancelledNotificationParams, CreateMessageRequestParams, ElicitRequestFormParams,
    ElicitRequestUrlParams, RequestMeta, RequestParams,
};
use sterna_protocol::meta::RelatedTaskMetadata;
use sterna_protocol::version::ProtocolVersion;
use sterna_store::TaskId;
use tokio::sync::oneshot;

use super::answer_relay::AnswerRelay;
use crate::failure::Failure;
use crate::rounds;
use crate::session_table::{ClientAnswer, DISCONNECTED, SessionState};
use crate::sink::MessageSink;

/// Prompter that sends questions on the stream of one request.
pub(super) struct SessionPrompter {
    pub(super) live: Arc<SessionState>,
    pub(super) sink: MessageSink,
    pub(super) version: ProtocolVersion,
    /// Instance that asks, so that another does not take the answer for one to
    /// its own question.
    pub(super) instance: u64,
    /// Relay for answers that arrive at another instance; `None` without a store.
    pub(super) relay: Option<AnswerRelay>,
}

impl rounds::ClientPrompter for SessionPrompter {
    type Asking = PendingPrompt;

    fn ask(&self, request: InputRequest) -> Result<PendingPrompt, Failure> {
        let (number, answered) = self.live.open()?;
        let short = write_id(self.instance, number);
        let id = match &self.relay {
            None => RequestId::from(short.as_str()),
            Some(relay) => relay.address(&short).ok_or(Failure::Internal)?,
        };
        let asking = PendingPrompt {
            number,
            answered: Some(answered),
            elsewhere: self
                .relay
                .as_ref()
                .map(|relay| Box::pin(relay.wait(&short)) as _),
            is_elicitation: matches!(request, InputRequest::Elicit(_)),
            live: Arc::clone(&self.live),
            sink: self.sink.clone(),
            id: id.clone(),
        };
        send_question(&self.sink, id, &self.version, request, None)?;
        Ok(asking)
    }
}

/// Sends a question to the client, with the task it belongs to.
///
/// # Errors
///
/// The older revisions have no such question, or the client does not read: it
/// would not answer either.
pub(super) fn send_question(
    sink: &MessageSink,
    id: RequestId,
    version: &ProtocolVersion,
    request: InputRequest,
    task: Option<TaskId>,
) -> Result<(), Failure> {
    let method = request.method();
    let visit = id.to_string();
    let meta = task.map(|task| {
        let mut meta = RequestMeta::default();
        meta.related_task = Some(RelatedTaskMetadata::new(task.to_string()));
        meta
    });
    let sent = match request {
        InputRequest::CreateMessage(request) => {
            let mut params = CreateMessageRequestParams::from(request.params);
            params.meta = meta;
            sink.request(id, method, Some(params))
        }
        InputRequest::Elicit(request) => match request.params {
            ElicitRequestParams::Form(mut form) => {
                if *version < ProtocolVersion::V2025_11_25 {
                    form.mode = None;
                }
                let mut params = ElicitRequestFormParams::from(form);
                params.meta = meta;
                sink.request(id, method, Some(params))
            }
            ElicitRequestParams::Url(url) => {
                let mut params = ElicitRequestUrlParams::new(visit, url);
                params.meta = meta;
                sink.request(id, method, Some(params))
            }
            _ => return Err(Failure::Internal),
        },
        InputRequest::ListRoots(_) => {
            let params = meta.map(|meta| {
                let mut params = RequestParams::default();
                params.meta = Some(meta);
                params
            });
            sink.request(id, method, params)
        }
        _ => return Err(Failure::Internal),
    };
    sent.map_err(|_| Failure::Crowded)
}

/// A question that is out. Dropping it takes it back.
pub(super) struct PendingPrompt {
    number: u64,
    /// `None` once there is an answer.
    answered: Option<oneshot::Receiver<ClientAnswer>>,
    elsewhere: Option<Pin<Box<dyn Future<Output = ClientAnswer> + Send>>>,
    is_elicitation: bool,
    live: Arc<SessionState>,
    sink: MessageSink,
    id: RequestId,
}

impl Future for PendingPrompt {
    type Output = Result<RawJson, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(answered) = &mut self.answered else {
            return Poll::Pending;
        };
        let answer = match (Pin::new(answered).poll(cx), &mut self.elsewhere) {
            (Poll::Ready(answer), _) => answer,
            (Poll::Pending, None) => return Poll::Pending,
            (Poll::Pending, Some(elsewhere)) => {
                let answer = ready!(elsewhere.as_mut().poll(cx));
                self.live.withdraw(self.number);
                Ok(answer)
            }
        };
        self.answered = None;
        self.elsewhere = None;
        match answer {
            Ok(Ok(text)) => Poll::Ready(RawJson::parse(text).map_err(|_| Failure::Internal)),
            // A client that could not show the form has no answer, as a user who went away.
            Ok(Err(_)) if self.is_elicitation => {
                Poll::Ready(Ok(RawJson::from(json!({"action": "cancel"}))))
            }
            Ok(Err(_)) => {
                let why = "The client refused what it was asked for.";
                Poll::Ready(Err(Failure::Unanswered(why)))
            }
            Err(_) => Poll::Ready(Err(DISCONNECTED)),
        }
    }
}

impl Drop for PendingPrompt {
    fn drop(&mut self) {
        if self.answered.is_none() {
            return;
        }
        self.live.withdraw(self.number);
        let mut params = CancelledNotificationParams::new(self.id.clone());
        params.reason = Some("no longer needed".to_owned());
        // If it does not get through, the answer will be ignored all the same.
        let _ = self.sink.notify("notifications/cancelled", &params);
    }
}

fn write_id(instance: u64, number: u64) -> String {
    format!("{instance:016x}.{number}")
}

/// The number of a question that the instance asked; `None` if it asked none of
/// that id. What follows the number is for other instances.
pub(super) fn read_id(instance: u64, id: &RequestId) -> Option<u64> {
    let text = id.to_string();
    let mut parts = text.split('.');
    (parts.next()? == format!("{instance:016x}")).then_some(())?;
    parts.next()?.parse().ok()
}
