use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Task, TaskStatus};
use crate::input::InputRequests;
use crate::json::{JsonObject, Members, OtherName, RawObject, write_object};
use crate::jsonrpc::ErrorObject;

/// A task with what came of it so far, told apart by `status`.
///
/// Its status cannot contradict its state: both are set together.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailedTask {
    task: Task,
    state: TaskState,
}

impl DetailedTask {
    /// `task` in this `state`, whatever its status was.
    pub fn new(task: Task, state: TaskState) -> Self {
        let status = state.status();
        let task = Task { status, ..task };
        Self { task, state }
    }

    /// What is known about the task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// How it stands, and what came of it.
    pub fn state(&self) -> &TaskState {
        &self.state
    }

    /// Both.
    pub fn into_parts(self) -> (Task, TaskState) {
        (self.task, self.state)
    }
}

/// How a task stands, and what came of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TaskState {
    /// It was called off.
    Cancelled,
    /// It is done: the result of the request it stands for.
    Completed(RawObject),
    /// It ended in this error.
    Failed(ErrorObject),
    /// It waits for the client to answer these.
    InputRequired(InputRequests),
    /// It is being worked on.
    Working,
    /// A status this revision does not define.
    Other(OtherName),
}

impl TaskState {
    /// The status this is the state of.
    pub fn status(&self) -> TaskStatus {
        match self {
            Self::Cancelled => TaskStatus::Cancelled,
            Self::Completed(_) => TaskStatus::Completed,
            Self::Failed(_) => TaskStatus::Failed,
            Self::InputRequired(_) => TaskStatus::InputRequired,
            Self::Working => TaskStatus::Working,
            Self::Other(name) => TaskStatus::Other(name.clone()),
        }
    }

    /// Takes what the status promises out of the members that are not part of
    /// every task.
    fn take<E: de::Error>(status: &TaskStatus, members: &mut JsonObject) -> Result<Self, E> {
        Ok(match status {
            TaskStatus::Cancelled => Self::Cancelled,
            TaskStatus::Completed => Self::Completed(require(members, "result")?),
            TaskStatus::Failed => Self::Failed(require(members, "error")?),
            TaskStatus::InputRequired => Self::InputRequired(require(members, "inputRequests")?),
            TaskStatus::Working => Self::Working,
            TaskStatus::Other(name) => Self::Other(name.clone()),
        })
    }
}

fn require<T: DeserializeOwned, E: de::Error>(
    members: &mut JsonObject,
    name: &'static str,
) -> Result<T, E> {
    let json = members.remove(name).ok_or_else(|| E::missing_field(name))?;
    json.decode().map_err(E::custom)
}

impl Members for DetailedTask {
    const EXPECTED: &'static str = "an object (DetailedTask)";

    fn read<'de, A: de::MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let mut task = Task::read(map)?;
        let state = TaskState::take(&task.status, &mut task.extra)?;
        Ok(Self { task, state })
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.task.write(map)?;
        match &self.state {
            TaskState::Completed(result) => map.serialize_entry("result", result),
            TaskState::Failed(error) => map.serialize_entry("error", error),
            TaskState::InputRequired(requests) => map.serialize_entry("inputRequests", requests),
            TaskState::Cancelled | TaskState::Working | TaskState::Other(_) => Ok(()),
        }
    }
}

impl Serialize for DetailedTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_object(self, serializer)
    }
}

impl<'de> Deserialize<'de> for DetailedTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::json::read_object(deserializer)
    }
}
