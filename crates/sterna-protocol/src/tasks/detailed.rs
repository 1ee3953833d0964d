use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Task, TaskStatus};
use crate::input::InputRequests;
use crate::json::{JsonObject, Members, OtherName, RawObject, write_object};
use crate::jsonrpc::ErrorObject;

/// Task with its current result, error or questions, distinguished by `status`.
///
/// The status always agrees with the state, since both are set together.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailedTask {
    task: Task,
    state: TaskState,
}

impl DetailedTask {
    /// Sets the state of `task`, and its status to match.
    pub fn new(task: Task, state: TaskState) -> Self {
        let status = state.status();
        let task = Task { status, ..task };
        Self { task, state }
    }

    /// The task without its payload.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The state, with its payload.
    pub fn state(&self) -> &TaskState {
        &self.state
    }

    /// Splits into the task and its state.
    pub fn into_parts(self) -> (Task, TaskState) {
        (self.task, self.state)
    }
}

/// State of a task, with its payload.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TaskState {
    /// Cancelled.
    Cancelled,
    /// Completed, with the result of its request.
    Completed(RawObject),
    /// Failed, with this error.
    Failed(ErrorObject),
    /// Waiting for the client to answer these questions.
    InputRequired(InputRequests),
    /// Running.
    Working,
    /// Status that this revision does not define.
    Other(OtherName),
}

impl TaskState {
    /// The status of this state.
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

    /// Takes the payload of the status out of the unknown members.
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
