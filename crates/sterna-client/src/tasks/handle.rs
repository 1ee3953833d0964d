use serde::{Deserialize, Serialize};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::InputResponses;
use sterna_protocol::tasks::{CreateTaskResult, DetailedTask};
use sterna_protocol::tool::CallToolResult;

use super::follow::{self, follow};
use crate::client::Client;
use crate::error::{Error, Fault};

/// A task at a server, as plain data.
///
/// It can be stored, and followed by another process after a restart. Whoever
/// has it can see and answer the task as the same user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskHandle {
    server: String,
    task_id: String,
}

impl TaskHandle {
    pub(crate) fn new(server: &str, created: &CreateTaskResult) -> Self {
        Self::of(server, created.task.task_id.clone())
    }

    pub(crate) fn of(server: &str, task_id: String) -> Self {
        Self {
            server: server.to_owned(),
            task_id,
        }
    }

    /// Where the server is.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The server's name for the task.
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// How the task stands.
    ///
    /// # Errors
    ///
    /// The server does not know the task any more, or `client` is connected to
    /// another server.
    pub async fn get(&self, client: &Client) -> Result<DetailedTask, Error> {
        self.check(client)?;
        follow::get(&client.core, &self.task_id).await
    }

    /// Answers some or all of what the task asks.
    ///
    /// # Errors
    ///
    /// As of [`get`](Self::get).
    pub async fn update(&self, client: &Client, answers: InputResponses) -> Result<(), Error> {
        self.check(client)?;
        follow::update(&client.core, &self.task_id, answers).await
    }

    /// Asks that the task be called off; it may end otherwise all the same.
    ///
    /// # Errors
    ///
    /// As of [`get`](Self::get).
    pub async fn cancel(&self, client: &Client) -> Result<(), Error> {
        self.check(client)?;
        follow::cancel(&client.core, &self.task_id).await
    }

    /// Follows the task to its end, at the pace the server asks for. The
    /// handlers of `client` answer what comes up.
    ///
    /// # Errors
    ///
    /// The task failed or was called off, a question could not be answered, or
    /// the server cannot be reached; the task itself goes on then.
    ///
    /// # Cancel safety
    ///
    /// Safe: the task goes on, and can be followed again.
    pub async fn follow(&self, client: &Client) -> Result<CallToolResult, Error> {
        self.check(client)?;
        let declared: ClientCapabilities = client.core.capabilities();
        follow(&client.core, self, &declared).await
    }

    fn check(&self, client: &Client) -> Result<(), Error> {
        let found = client.core.place();
        match self.server == found {
            true => Ok(()),
            false => Err(Fault::OtherServer {
                expected: self.server.clone(),
                found: found.to_owned(),
            }
            .into()),
        }
    }
}
