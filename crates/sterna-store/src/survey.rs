//! The operator's view of a store: every task and the ledger, read only.

use bytes::Bytes;

use crate::machine::Control;
use crate::{
    Asked, BoxFuture, Claimant, Cursor, Effect, Error, FlowId, Name, Owner, Status, StoreUsage,
    Summary, TaskId, UnixMillis,
};

/// Read-only view of a store for its operator.
///
/// It shows the tasks of all owners, their leases and journals, and the effects
/// in the ledger. Values are not part of it, only their sizes: a journal holds
/// answers of people. [`survey_value`](Self::survey_value) returns one value of a
/// task, on request; results in the ledger are not returned at all, because it
/// does not know which of them their authors marked as secret.
///
/// No server needs it. A server hands its [`Store`](crate::Store) to callers
/// whose owner it knows, and this view has no owner.
pub trait Survey: Send + Sync {
    /// Lists tasks of all owners, latest first.
    ///
    /// A task that cannot be read is listed too, with its
    /// [problem](SurveyedTask::problem).
    fn survey_tasks(&self, query: TaskQuery) -> BoxFuture<'_, Result<TaskSurvey, Error>>;

    /// Returns one task with the first `limit` entries of its journal and the
    /// first `limit` questions that it asked.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the task cannot be read.
    fn survey_task(
        &self,
        task: TaskId,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<TaskDetails>, Error>>;

    /// Lists effects in the ledger, latest claim first. Effects whose time is up
    /// are listed until they are swept.
    fn survey_effects(&self, query: EffectQuery) -> BoxFuture<'_, Result<EffectSurvey, Error>>;

    /// Counts the rows of every kind. On a large store that takes a scan of it.
    fn survey_usage(&self) -> BoxFuture<'_, Result<StoreUsage, Error>>;

    /// Returns the first `limit` bytes of a value of a task, or `None` if there is
    /// none.
    fn survey_value(
        &self,
        task: TaskId,
        value: StoredValue,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<Bytes>, Error>>;
}

/// Which tasks to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskQuery {
    /// Only tasks in this status; `None` for all.
    pub status: Option<Status>,
    /// End of the page before; `None` for the latest tasks.
    pub before: Option<Cursor>,
    /// Largest number of tasks to list.
    pub limit: u32,
}

impl TaskQuery {
    /// The latest `limit` tasks.
    pub const fn latest(limit: u32) -> Self {
        Self {
            status: None,
            before: None,
            limit,
        }
    }
}

/// One page of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskSurvey {
    /// The tasks, latest first.
    pub tasks: Vec<SurveyedTask>,
    /// Cursor of the next page, with older tasks, if there is one.
    pub next: Option<Cursor>,
    /// Time of the store's clock, which decides about leases.
    pub now: UnixMillis,
}

impl TaskSurvey {
    /// Cuts `tasks`, of which one more than `limit` was read, to a page.
    pub fn cut(mut tasks: Vec<SurveyedTask>, limit: u32, now: UnixMillis) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = tasks.len() > limit;
        tasks.truncate(limit);
        let last = tasks.last().filter(|_| more).map(|task| &task.summary);
        let next = last.map(|task| Cursor::new(task.created_at, task.id));
        Self { tasks, next, now }
    }
}

/// A task as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyedTask {
    /// The part that its owner sees.
    pub summary: Summary,
    /// Its owner.
    pub owner: Owner,
    /// The flow it runs.
    pub flow: FlowId,
    /// Status, lease and attempts. While the task is held, `due_at` is the end of
    /// its lease.
    pub control: Control,
    /// The worker that holds it.
    pub worker: Option<String>,
    /// Reason why the row cannot be read. The other fields then hold what could.
    pub problem: Option<String>,
}

impl SurveyedTask {
    /// A task that can be read.
    pub fn new(summary: Summary, owner: Owner, flow: FlowId, control: Control) -> Self {
        Self {
            summary,
            owner,
            flow,
            control,
            worker: None,
            problem: None,
        }
    }

    /// A task that cannot be read because of `problem`.
    pub fn unreadable(summary: Summary, problem: &Error) -> Self {
        let mut control = Control::created(0, summary.created_at);
        control.status = summary.status;
        control.due_at = None;
        Self {
            summary,
            owner: Owner::from_digest([0; 32]),
            flow: FlowId::from_bytes([0; 16]),
            control,
            worker: None,
            problem: Some(problem.to_string()),
        }
    }
}

/// One task with its journal and its questions, without their values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskDetails {
    /// The task.
    pub task: SurveyedTask,
    /// Size of the request it was created with.
    pub request_bytes: u64,
    /// Size of its result or error, once it has ended with one.
    pub outcome_bytes: Option<u64>,
    /// Entries of the journal, in order.
    pub journal: Vec<EntrySize>,
    /// Questions, in the order they were asked.
    pub questions: Vec<SurveyedQuestion>,
    /// Time of the store's clock.
    pub now: UnixMillis,
}

impl TaskDetails {
    /// A task with an empty journal and no questions.
    pub const fn new(task: SurveyedTask, request_bytes: u64, now: UnixMillis) -> Self {
        Self {
            task,
            request_bytes,
            outcome_bytes: None,
            journal: Vec::new(),
            questions: Vec::new(),
            now,
        }
    }
}

/// An entry of a journal without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntrySize {
    /// Its key.
    pub key: Name,
    /// Size of its value.
    pub bytes: u64,
}

impl EntrySize {
    /// The entry `key` with a value of `bytes` bytes.
    pub const fn new(key: Name, bytes: u64) -> Self {
        Self { key, bytes }
    }
}

/// A question of a task without its text and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyedQuestion {
    /// Its key, fingerprint and phase.
    pub asked: Asked,
    /// Size of the request as the client gets it.
    pub request_bytes: u64,
    /// Size of the answer, if it has one.
    pub response_bytes: Option<u64>,
}

impl SurveyedQuestion {
    /// A question with a request of `request_bytes` bytes.
    pub const fn new(asked: Asked, request_bytes: u64, response_bytes: Option<u64>) -> Self {
        Self {
            asked,
            request_bytes,
            response_bytes,
        }
    }
}

/// Which effects to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectQuery {
    /// Only effects of this flow; `None` for all.
    pub flow: Option<FlowId>,
    /// Largest number of effects to list.
    pub limit: u32,
}

impl EffectQuery {
    /// The latest `limit` effects of all flows.
    pub const fn latest(limit: u32) -> Self {
        Self { flow: None, limit }
    }

    /// The latest `limit` effects of one flow.
    pub const fn of(flow: FlowId, limit: u32) -> Self {
        Self {
            flow: Some(flow),
            limit,
        }
    }
}

/// Effects in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectSurvey {
    /// The effects, latest claim first.
    pub effects: Vec<SurveyedEffect>,
    /// `true` if there are older ones.
    pub is_cut: bool,
    /// Time of the store's clock.
    pub now: UnixMillis,
}

impl EffectSurvey {
    /// Cuts `effects`, of which one more than `limit` was read.
    pub fn cut(mut effects: Vec<SurveyedEffect>, limit: u32, now: UnixMillis) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_cut = effects.len() > limit;
        effects.truncate(limit);
        Self {
            effects,
            is_cut,
            now,
        }
    }
}

/// An effect that a claimant has claimed. Without a result it may be running, may
/// have happened or may not have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyedEffect {
    /// The effect.
    pub effect: Effect,
    /// The attempt that won the claim.
    pub claimant: Claimant,
    /// Time of the claim.
    pub claimed_at: UnixMillis,
    /// Time at which it is forgotten.
    pub expires_at: UnixMillis,
    /// Size of its result, once it is known.
    pub result_bytes: Option<u64>,
}

impl SurveyedEffect {
    /// An effect without a result.
    pub const fn new(
        effect: Effect,
        claimant: Claimant,
        claimed_at: UnixMillis,
        expires_at: UnixMillis,
    ) -> Self {
        Self {
            effect,
            claimant,
            claimed_at,
            expires_at,
            result_bytes: None,
        }
    }
}

/// The name of one value of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a store maps every value to a column"
)]
pub enum StoredValue {
    /// Value of an entry of its journal.
    Entry(Name),
    /// Its result or error.
    Outcome,
    /// Text of a question.
    Question(Name),
    /// Request that it was created with.
    Request,
    /// Answer to a question.
    Response(Name),
}
