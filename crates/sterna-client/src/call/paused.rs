use std::fmt;

use serde::{Deserialize, Serialize, Serializer, ser};
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::input::{
    InputRequest, InputRequests, InputRequired, InputResponse, InputResponses, RequestState,
};
use sterna_protocol::version::ProtocolVersion;

use super::state::CallState;
use super::{Reply, Resume, v1};
use crate::answers::check;
use crate::client::{Builder, Client};
use crate::core::SessionPause;
use crate::error::{Error, Fault, printable};
use crate::session::HeldReason;
use crate::tasks::TaskHandle;

/// Outcome of one step of a call.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "taken apart at once; a box would only add a dereference"
)]
#[non_exhaustive]
pub enum Step<T> {
    /// It is done.
    Complete(T),
    /// The server wants to know something first.
    InputRequired(PausedCall<T>),
    /// It goes on as a task.
    Task(TaskHandle),
}

/// A call that waits for answers, as plain data.
///
/// It can be stored, sent elsewhere, and resumed days later by another process
/// that knows the server. Dropping it abandons the call: the server keeps
/// nothing.
///
/// # Servers of earlier revisions
///
/// They keep a call that asks, and send its result on the stream of the call.
///
/// - A server that can resume streams leaves a *detached* call: plain data as
///   above, for as long as the session lasts. Dropping it sends nothing. It can be
///   resumed more than once: a repetition yields the same result. No answer is
///   sent before the server has shown, by asking its question again, that the
///   result can be collected.
/// - Other servers leave a *held* call, which keeps its connection. It cannot be
///   serialised, the first `resume` of its clones uses it up, and dropping the last
///   one cancels the call. [`held`](Self::held) says why.
///
/// The questions have no names there: a form of one field is called like its field,
/// other questions `form`, `url`, `sample` or `roots`, a second one `form#2`.
///
/// # Storage
///
/// Serialised, it holds the arguments, the answers so far and the server's
/// state: a process that has it can act for the user. `Debug` shows none of these.
///
/// # Examples
///
/// ```no_run
/// # use sterna_client::{Client, Error, PausedCall, Step};
/// # use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
/// # use sterna_protocol::tool::CallToolResult;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect("https://mcp.example/mcp").await?;
/// let Step::InputRequired(paused) = client.call("deploy").start().await? else {
///     return Ok(());
/// };
/// let stored = serde_json::to_string(&paused)?;
///
/// // Later, in another process:
/// let mut paused: PausedCall<CallToolResult> = serde_json::from_str(&stored)?;
/// let approval = ElicitContent::from_iter([("reason", "tested")]);
/// paused.answer("approval", ElicitResult::accept(approval))?;
/// let step = paused.resume(&client).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Deserialize)]
#[serde(try_from = "v1::Stored", bound(deserialize = "T: Reply"))]
pub struct PausedCall<T> {
    pub(super) server: String,
    pub(super) call: CallState<T>,
    pub(super) questions: InputRequests,
    pub(super) answers: InputResponses,
    pub(super) state: Option<RequestState>,
    /// Place of the call in a session of an earlier revision.
    pub(super) session: Option<SessionPause>,
}

impl<T: Reply> PausedCall<T> {
    pub(super) fn new(server: String, call: CallState<T>, required: InputRequired) -> Self {
        let (questions, state) = required.into_parts();
        Self {
            server,
            call,
            questions,
            answers: InputResponses::new(),
            state,
            session: None,
        }
    }

    pub(super) fn in_session(
        server: String,
        call: CallState<T>,
        questions: InputRequests,
        session: SessionPause,
    ) -> Self {
        Self {
            server,
            call,
            questions,
            answers: InputResponses::new(),
            state: None,
            session: Some(session),
        }
    }

    /// Endpoint of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool, the prompt or the resource.
    pub fn name(&self) -> &str {
        self.call.target.name()
    }

    /// Number of retries so far.
    pub fn rounds(&self) -> u32 {
        self.call.rounds
    }

    /// Everything the server asks in this round, answered or not.
    pub fn questions(&self) -> &InputRequests {
        &self.questions
    }

    /// Questions without an answer.
    pub fn open(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        let questions = self.questions.iter();
        questions.filter(|(key, _)| self.answers.get(key).is_none())
    }

    /// Reason why the call needs its connection, and with it this process; `None`
    /// if it is plain data.
    pub fn held(&self) -> Option<HeldReason> {
        match &self.session {
            Some(SessionPause::Held(held)) => Some(held.reason),
            Some(SessionPause::Detached(_)) | None => None,
        }
    }

    /// Returns true if the call is plain data, which can be serialised.
    pub fn is_detached(&self) -> bool {
        self.held().is_none()
    }

    /// Returns true if the server keeps the call, in a session of an earlier
    /// revision; a server of 2026-07-28 keeps nothing.
    pub fn is_in_session(&self) -> bool {
        self.session.is_some()
    }

    /// Leaves out the arguments and `_meta` of a call that its server keeps, to
    /// make it smaller: they are not sent again. A call that is sent again with
    /// its answers is returned as it is.
    #[must_use]
    pub fn without_arguments(mut self) -> Self {
        if self.session.is_some() {
            self.call.forget_arguments();
        }
        self
    }

    /// Answers a question, or answers it anew. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// The server did not ask that, or the answer does not fit the question.
    pub fn answer(&mut self, key: &str, response: impl Into<InputResponse>) -> Result<(), Error> {
        let unknown = || Fault::UnknownQuestion {
            key: printable(key),
        };
        let request = self.questions.get(key).ok_or_else(unknown)?;
        let response = check(key, request, response.into())?;
        self.answers.insert(key, response);
        Ok(())
    }

    /// Sends the call again with the answers, up to the next question; it is
    /// sent by awaiting what this returns.
    ///
    /// # Errors
    ///
    /// Awaiting it fails if a question is open, `client` is connected to
    /// another server, or the call failed. The paused call stays as it is:
    /// unless the server has refused it, it can be resumed again.
    pub fn resume<'a>(&'a self, client: &'a Client) -> Resume<'a, T> {
        Resume::new(self, client)
    }

    /// Sends the call again and has the handlers of `client` answer what is
    /// open, now and later.
    ///
    /// # Errors
    ///
    /// As of [`Resume::finish`].
    pub async fn finish(&self, client: &Client) -> Result<T, Error> {
        self.resume(client).finish().await
    }

    /// Connects to resume this call.
    ///
    /// For a detached call of a session nothing is sent: the client takes up that
    /// session, which [`Client::close`] leaves open. Until a request is made, it
    /// knows nothing of the server but its protocol version.
    ///
    /// # Errors
    ///
    /// As of [`Builder::connect`], and if `builder` is for another server: the id
    /// of a session is a secret between the server and its clients.
    pub async fn connect(&self, builder: Builder) -> Result<Client, Error> {
        match &self.session {
            Some(SessionPause::Detached(call)) => {
                let version = call.header(&MCP_PROTOCOL_VERSION).unwrap_or_default();
                let client = builder.adopt(ProtocolVersion::from(version), call.headers.clone())?;
                client.core.check_endpoint(&self.server)?;
                Ok(client)
            }
            Some(SessionPause::Held(_)) | None => builder.connect().await,
        }
    }

    /// Abandons the call and tells a server that keeps it.
    ///
    /// # Errors
    ///
    /// `client` is connected to another server, or a detached call cannot be
    /// cancelled because the server cannot be reached.
    pub async fn cancel(self, client: &Client) -> Result<(), Error> {
        client.core.check_endpoint(&self.server)?;
        match self.session {
            Some(SessionPause::Detached(call)) => client.core.cancel_detached(&call).await,
            // A held call is cancelled by its drop; other servers keep nothing.
            Some(SessionPause::Held(_)) | None => Ok(()),
        }
    }

    /// The questions and the state as the server sent them, for a gateway that
    /// passes both on.
    pub fn into_parts(self) -> (InputRequests, Option<RequestState>) {
        (self.questions, self.state)
    }

    /// Lets the call be resumed at another address of the same server.
    ///
    /// Dangerous, because answers and state go wherever this points: a state
    /// is meant only for the server that issued it.
    #[must_use]
    pub fn dangerous_moved_to(mut self, server: impl Into<String>) -> Self {
        self.server = server.into();
        self
    }
}

impl<T> Clone for PausedCall<T> {
    fn clone(&self) -> Self {
        Self {
            server: self.server.clone(),
            call: self.call.clone(),
            questions: self.questions.clone(),
            answers: self.answers.clone(),
            state: self.state.clone(),
            session: self.session.clone(),
        }
    }
}

impl<T> Serialize for PausedCall<T> {
    /// # Errors
    ///
    /// The call is held; the error says why.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = v1::Stored::try_from(self).map_err(ser::Error::custom)?;
        stored.serialize(serializer)
    }
}

impl<T> fmt::Debug for PausedCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.questions.iter().map(|(key, _)| key).collect();
        let mut shown = f.debug_struct("PausedCall");
        shown
            .field("server", &self.server)
            .field("name", &self.call.target.name())
            .field("rounds", &self.call.rounds)
            .field("questions", &keys)
            .field("state", &self.state);
        if let Some(session) = &self.session {
            shown.field("session", session);
        }
        shown.finish_non_exhaustive()
    }
}
