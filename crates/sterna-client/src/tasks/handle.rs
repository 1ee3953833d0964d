use serde::{Deserialize, Serialize};
use sterna_protocol::input::InputResponses;
use sterna_protocol::tasks::DetailedTask;
use sterna_protocol::tool::CallToolResult;

use super::follow::follow;
use super::legacy::LegacyTask;
use super::{TaskDialect, extension};
use crate::client::Client;
use crate::error::Error;

/// A task at a server, as plain data.
///
/// It can be stored, and followed by another process after a restart. A process
/// that has it can see and answer the task as the same user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskHandle {
    server: String,
    task_id: String,
    #[serde(default, skip_serializing_if = "TaskDialect::is_extension")]
    dialect: TaskDialect,
}

impl TaskHandle {
    pub(crate) fn new(server: &str, task_id: String, dialect: TaskDialect) -> Self {
        Self {
            server: server.to_owned(),
            task_id,
            dialect,
        }
    }

    /// Endpoint of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The server's name for the task.
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// Fetches the state of the task.
    ///
    /// In a session of 2025-11-25 the state does not include questions: the
    /// server sends them to the client that [follows](Self::follow) the task.
    ///
    /// # Errors
    ///
    /// The server does not know the task any more, or `client` is connected to
    /// another server.
    pub async fn get(&self, client: &Client) -> Result<DetailedTask, Error> {
        client.core.check_endpoint(&self.server)?;
        match LegacyTask::of(&client.core, self) {
            Some(older) => older.show().await,
            None => extension::get(&client.core, &self.task_id).await,
        }
    }

    /// Answers some or all questions of the task.
    ///
    /// # Errors
    ///
    /// As of [`get`](Self::get), and always in a session of 2025-11-25.
    pub async fn update(&self, client: &Client, answers: InputResponses) -> Result<(), Error> {
        client.core.check_endpoint(&self.server)?;
        match LegacyTask::of(&client.core, self) {
            Some(older) => older.respond(&answers).await,
            None => extension::update(&client.core, &self.task_id, answers).await,
        }
    }

    /// Asks that the task be called off; it may end otherwise all the same.
    ///
    /// # Errors
    ///
    /// As of [`get`](Self::get).
    pub async fn cancel(&self, client: &Client) -> Result<(), Error> {
        client.core.check_endpoint(&self.server)?;
        match LegacyTask::of(&client.core, self) {
            Some(older) => older.cancel().await,
            None => extension::cancel(&client.core, &self.task_id).await,
        }
    }

    /// Follows the task to its end: the server tells how it goes, or is asked
    /// at the pace it wishes. The handlers of `client` answer what comes up.
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
        client.core.check_endpoint(&self.server)?;
        let declared = client.core.capabilities();
        // Boxed, because it is large and every caller's future would hold it.
        Box::pin(follow(&client.core, self, &declared)).await
    }

    pub(super) fn dialect(&self) -> TaskDialect {
        self.dialect
    }
}
