use std::fmt;

use serde::{Deserialize, Serialize};
use sterna_protocol::input::{
    InputRequest, InputRequests, InputRequired, InputResponse, InputResponses, RequestState,
};

use super::state::CallState;
use super::{Reply, Resume, v1};
use crate::answers::check;
use crate::client::Client;
use crate::error::{Error, Fault, printable};
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
#[derive(Serialize, Deserialize)]
#[serde(
    into = "v1::Stored",
    try_from = "v1::Stored",
    bound(serialize = "", deserialize = "T: Reply")
)]
pub struct PausedCall<T> {
    pub(super) server: String,
    pub(super) call: CallState<T>,
    pub(super) questions: InputRequests,
    pub(super) answers: InputResponses,
    pub(super) state: Option<RequestState>,
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
        }
    }
}

impl<T> fmt::Debug for PausedCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.questions.iter().map(|(key, _)| key).collect();
        f.debug_struct("PausedCall")
            .field("server", &self.server)
            .field("name", &self.call.target.name())
            .field("rounds", &self.call.rounds)
            .field("questions", &keys)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
