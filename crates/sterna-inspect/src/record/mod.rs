//! Calls as they are kept for the pages: plain data, changed by the calls that
//! run and read by the pages.

mod paused;
mod wire;

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use sterna_client::{CancelHandle, Direction, Era, Error, ErrorKind, TaskHandle};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::tasks::{DetailedTask, TaskState};
use tokio::sync::oneshot;

pub(crate) use paused::Paused;
pub(crate) use wire::WireRecord;

/// A request that may take several rounds.
#[derive(Clone, Debug)]
pub(crate) struct CallRequest {
    pub(crate) kind: CallKind,
    /// Name of the tool or the prompt, or the URI of the resource.
    pub(crate) name: String,
    pub(crate) arguments: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    Prompt,
    Resource,
    Tool,
}

impl CallKind {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "prompt" => Some(Self::Prompt),
            "resource" => Some(Self::Resource),
            "tool" => Some(Self::Tool),
            _ => None,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Tool => "tool",
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Prompt => "prompts/get",
            Self::Resource => "resources/read",
            Self::Tool => "tools/call",
        }
    }
}

/// A call and all its rounds. A round that was answered more than once has
/// several children, so the rounds form a tree.
#[derive(Debug)]
pub(crate) struct CallRecord {
    pub(crate) id: u64,
    pub(crate) era: Era,
    pub(crate) request: CallRequest,
    pub(crate) rounds: Vec<Round>,
}

impl CallRecord {
    pub(crate) fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let rounds = self.rounds.iter().enumerate();
        rounds
            .filter(move |(_, round)| round.parent == Some(parent))
            .map(|(at, _)| at)
    }

    /// The rounds from the first one to `at`.
    pub(crate) fn path_to(&self, at: usize) -> Vec<usize> {
        let mut path = vec![at];
        let mut here = at;
        while let Some(parent) = self.rounds.get(here).and_then(|round| round.parent) {
            path.push(parent);
            here = parent;
        }
        path.reverse();
        path
    }

    pub(crate) fn is_running(&self) -> bool {
        self.rounds.iter().any(Round::is_running)
    }
}

/// One request of a call and the response to it.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) parent: Option<usize>,
    /// The answers that were sent with it, by key.
    pub(crate) answers: Vec<(String, Value)>,
    /// The change that was made to the state on purpose.
    pub(crate) altered: Option<Altered>,
    pub(crate) began: Instant,
    pub(crate) took: Option<Duration>,
    pub(crate) status: Status,
    pub(crate) questions: Vec<LiveQuestion>,
    pub(crate) progress: Vec<Progress>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) wire: Vec<WireRecord>,
    /// Messages, progress and log lines beyond what is kept.
    pub(crate) left_out: usize,
    pub(crate) cancel: Option<CancelHandle>,
}

impl Round {
    pub(crate) fn new(
        parent: Option<usize>,
        answers: Vec<(String, Value)>,
        began: Instant,
    ) -> Self {
        Self {
            parent,
            answers,
            altered: None,
            began,
            took: None,
            status: Status::Running,
            questions: Vec::new(),
            progress: Vec::new(),
            logs: Vec::new(),
            wire: Vec::new(),
            left_out: 0,
            cancel: None,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.status, Status::Running | Status::Task(_))
    }

    /// Instance of the server that answered, if a header field of the response
    /// names it.
    pub(crate) fn instance(&self) -> Option<&str> {
        let received = |message: &&WireRecord| message.direction == Direction::Received;
        let mut headers = self
            .wire
            .iter()
            .filter(received)
            .flat_map(|message| &message.headers);
        let named = headers.find(|(name, _)| INSTANCE_HEADERS.contains(&name.as_str()));
        named.map(|(_, value)| value.as_str())
    }

    /// Adds an item to one of the lists, unless there are too many already.
    pub(crate) fn keep<T>(list: &mut Vec<T>, left_out: &mut usize, item: T) {
        match list.len() < MOST_KEPT {
            true => list.push(item),
            false => *left_out += 1,
        }
    }
}

/// A change that was made to the state of a round on purpose, and the reason of
/// the check that refuses it.
#[derive(Clone, Debug)]
pub(crate) struct Altered {
    pub(crate) what: String,
    pub(crate) refusal: Option<(String, String)>,
}

/// State of a round.
#[derive(Debug)]
pub(crate) enum Status {
    /// The server wants answers.
    Asked(Box<AskedRound>),
    Cancelled,
    Done {
        result: Value,
        /// The tool says that it failed.
        is_error: bool,
    },
    Failed(Failure),
    Running,
    /// The call goes on as a task.
    Task(Box<TaskRecord>),
    /// The call had not ended when it was kept in a file.
    Unfinished(String),
}

/// Questions of a round that has ended with them.
#[derive(Debug)]
pub(crate) struct AskedRound {
    pub(crate) questions: Vec<(String, InputRequest)>,
    /// Size of the request state.
    pub(crate) state_bytes: Option<usize>,
    /// The call as it can be resumed; `None` if it was read from a file.
    pub(crate) paused: Option<Paused>,
}

impl AskedRound {
    pub(crate) fn of(paused: Paused) -> Self {
        Self {
            questions: paused.questions(),
            state_bytes: paused.state().map(|state| state.len()),
            paused: Some(paused),
        }
    }
}

/// A task and its last known state.
#[derive(Debug)]
pub(crate) struct TaskRecord {
    pub(crate) handle: TaskHandle,
    pub(crate) seen: Option<DetailedTask>,
}

impl TaskRecord {
    /// The questions that the task waits for.
    pub(crate) fn questions(&self) -> Option<Vec<(String, InputRequest)>> {
        match self.seen.as_ref()?.state() {
            TaskState::InputRequired(requests) => {
                let requests = requests.iter();
                let owned = requests.map(|(key, request)| (key.to_owned(), request.clone()));
                Some(owned.collect())
            }
            _ => None,
        }
    }

    pub(crate) fn asks(&self) -> bool {
        self.questions().is_some()
    }
}

/// A question that the server asked while the request was open.
#[derive(Debug)]
pub(crate) struct LiveQuestion {
    pub(crate) key: String,
    pub(crate) request: InputRequest,
    pub(crate) answer: LiveAnswer,
}

#[derive(Debug)]
pub(crate) enum LiveAnswer {
    Given(Value),
    Open(oneshot::Sender<InputResponse>),
    /// The server took the question back, or the call ended.
    Withdrawn,
}

#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) after: Duration,
    pub(crate) progress: f64,
    pub(crate) total: Option<f64>,
    pub(crate) message: Option<String>,
}

#[derive(Debug)]
pub(crate) struct LogLine {
    pub(crate) after: Duration,
    pub(crate) level: String,
    pub(crate) logger: Option<String>,
    pub(crate) text: String,
}

/// Failure of a round, in words.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) text: String,
    /// Code of the page in `docs/errors`.
    pub(crate) code: String,
    pub(crate) is_of_state: bool,
    /// Code and message of the server's JSON-RPC error.
    pub(crate) rpc: Option<(i64, String)>,
}

impl Failure {
    pub(crate) fn of(error: &Error) -> Self {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        let rpc = error.rpc();
        Self {
            text,
            code: error.code().to_owned(),
            is_of_state: error.kind() == ErrorKind::RequestState,
            rpc: rpc.map(|error| (error.code.0, error.message.clone())),
        }
    }
}

/// Header fields by which proxies and servers name an instance.
const INSTANCE_HEADERS: [&str; 5] = [
    "x-served-by",
    "x-instance",
    "x-instance-id",
    "x-backend-server",
    "fly-machine-id",
];

/// Items of each list of a round. A server may send progress without end.
const MOST_KEPT: usize = 300;
