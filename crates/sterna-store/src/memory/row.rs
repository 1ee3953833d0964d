//! One task in memory.

use bytes::Bytes;

use super::usage::OVERHEAD;
use crate::machine::{Changes, Control, Known};
use crate::{
    Answer, Asked, Claimed, Commit, Entry, EntrySize, FlowId, Lease, Name, NewTask, Note, Outcome,
    Owner, Phase, Question, Status, StoredValue, Summary, SurveyedQuestion, Task, TaskId,
    TaskUpdate, UnixMillis,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Row {
    pub(super) principal: Owner,
    pub(super) control: Control,
    pub(super) target: Name,
    pub(super) created_at: UnixMillis,
    pub(super) updated_at: UnixMillis,
    pub(super) expires_at: Option<UnixMillis>,
    pub(super) note: Option<Note>,
    pub(super) outcome: Option<Outcome>,
    pub(super) journal: Vec<Entry>,
    flow: FlowId,
    request: Bytes,
    questions: Vec<Posed>,
    /// Number of answers that have come.
    heard: u32,
    /// The worker of the latest claim, for an operator.
    pub(super) worker: Option<Name>,
    /// Bytes that were taken for it.
    pub(super) cost: usize,
}

/// A question and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Posed {
    question: Question,
    phase: Phase,
    response: Bytes,
    /// The how-manieth answer of the task this was.
    order: u32,
}

impl Row {
    pub(super) fn new(task: NewTask, cost: usize, now: UnixMillis) -> Self {
        let entries = u32::try_from(task.journal.len()).unwrap_or(u32::MAX);
        Self {
            principal: task.principal,
            control: Control::created(entries, now),
            target: task.target,
            created_at: now,
            updated_at: now,
            expires_at: task.ttl.map(|ttl| now + ttl),
            note: task.note,
            outcome: None,
            journal: task.journal,
            flow: task.flow,
            request: task.request,
            questions: Vec::new(),
            heard: 0,
            worker: None,
            cost,
        }
    }

    pub(super) fn summary(&self, id: TaskId) -> Summary {
        let mut summary = Summary::new(
            id,
            self.target.clone(),
            self.control.status,
            self.created_at,
        );
        summary.note = self.note.clone();
        summary.updated_at = self.updated_at;
        summary.expires_at = self.expires_at;
        summary
    }

    pub(super) fn task(&self, id: TaskId) -> Task {
        let mut task = Task::new(self.summary(id));
        task.outcome.clone_from(&self.outcome);
        if self.control.status == Status::InputRequired {
            task.questions = self
                .posed(Phase::Open)
                .map(|posed| posed.question.clone())
                .collect();
        }
        task
    }

    pub(super) fn claimed(&self, id: TaskId) -> Claimed {
        let lease = Lease::new(id, self.control.fence);
        let request = self.request.clone();
        let summary = self.summary(id);
        let mut claimed = Claimed::new(lease, summary, self.principal, self.flow, request);
        claimed.journal.clone_from(&self.journal);
        claimed.asked = self.asked();
        claimed.answers = self.inbox();
        claimed.attempt = self.control.attempts;
        claimed
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    /// The keys of the journal with the sizes of their values.
    pub(super) fn entry_sizes(&self) -> impl Iterator<Item = EntrySize> {
        let size = |value: &Bytes| u64::try_from(value.len()).unwrap_or(u64::MAX);
        let entries = self.journal.iter();
        entries.map(move |entry| EntrySize::new(entry.key.clone(), size(&entry.value)))
    }

    /// The questions with the sizes of their texts and answers.
    pub(super) fn surveyed_questions(&self) -> impl Iterator<Item = SurveyedQuestion> {
        let size = |value: &Bytes| u64::try_from(value.len()).unwrap_or(u64::MAX);
        self.asked()
            .into_iter()
            .zip(&self.questions)
            .map(move |(asked, posed)| {
                let response = (posed.order > 0).then(|| size(&posed.response));
                SurveyedQuestion::new(asked, size(&posed.question.request), response)
            })
    }

    /// One value of the task.
    pub(super) fn stored(&self, value: &StoredValue) -> Option<Bytes> {
        let posed = |key: &Name| self.questions.iter().find(|one| one.question.key == *key);
        match value {
            StoredValue::Entry(key) => {
                let entry = self.journal.iter().find(|entry| entry.key == *key)?;
                Some(entry.value.clone())
            }
            StoredValue::Outcome => match self.outcome.as_ref()? {
                Outcome::Completed(value) | Outcome::Failed(value) => Some(value.clone()),
                Outcome::Cancelled => None,
            },
            StoredValue::Question(key) => Some(posed(key)?.question.request.clone()),
            StoredValue::Request => Some(self.request.clone()),
            StoredValue::Response(key) => {
                let posed = posed(key).filter(|posed| posed.order > 0)?;
                Some(posed.response.clone())
            }
        }
    }

    pub(super) fn news(&self) -> TaskUpdate {
        TaskUpdate::new(self.control.status, self.inbox())
    }

    fn inbox(&self) -> Vec<Answer> {
        let mut unread: Vec<_> = self.posed(Phase::Answered).collect();
        unread.sort_by_key(|posed| posed.order);
        unread
            .into_iter()
            .map(|posed| Answer::new(posed.question.key.clone(), posed.response.clone()))
            .collect()
    }

    fn posed(&self, phase: Phase) -> impl Iterator<Item = &Posed> {
        self.questions
            .iter()
            .filter(move |posed| posed.phase == phase)
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.questions
            .iter()
            .map(|posed| {
                let Question {
                    key, fingerprint, ..
                } = &posed.question;
                Asked::new(key.clone(), *fingerprint, posed.phase)
            })
            .collect()
    }

    pub(super) fn known(&self, commit: &Commit) -> Known {
        let values = self
            .journal
            .iter()
            .filter(|entry| commit.entries.iter().any(|new| new.key == entry.key))
            .map(|entry| (entry.key.clone(), entry.value.clone()))
            .collect();
        Known::new(values, self.asked())
    }

    pub(super) fn apply(&mut self, changes: &Changes<'_>) {
        self.journal.extend(changes.append.iter().copied().cloned());
        for posed in &mut self.questions {
            let key = &posed.question.key;
            if changes.take.contains(&key) {
                posed.phase = Phase::Taken;
            } else if changes.reopen.contains(&key) {
                posed.phase = Phase::Open;
            } else if changes.withdraw.contains(key) {
                posed.phase = Phase::Withdrawn;
            }
        }
        self.questions
            .extend(changes.ask.iter().map(|&question| Posed {
                question: question.clone(),
                phase: Phase::Open,
                response: Bytes::new(),
                order: 0,
            }));
    }

    pub(super) fn hear(&mut self, answers: &[&Answer]) {
        for answer in answers {
            let key = &answer.key;
            let posed = self.questions.iter_mut().find(|p| p.question.key == *key);
            if let Some(posed) = posed {
                self.heard += 1;
                posed.order = self.heard;
                posed.phase = Phase::Answered;
                posed.response = answer.response.clone();
            }
        }
    }
}

/// The bytes that a new task takes.
pub(super) fn cost_of_task(task: &NewTask) -> usize {
    OVERHEAD
        + task.request.len()
        + task.target.as_str().len()
        + task.note.as_ref().map_or(0, |note| note.as_str().len())
        + task.journal.iter().map(cost_of_entry).sum::<usize>()
}

/// The bytes that changes take.
pub(super) fn cost_of_changes(changes: &Changes<'_>) -> usize {
    let entries = changes.append.iter().copied().map(cost_of_entry);
    let questions = changes
        .ask
        .iter()
        .map(|question| OVERHEAD + question.key.as_str().len() + question.request.len());
    entries.chain(questions).sum()
}

fn cost_of_entry(entry: &Entry) -> usize {
    OVERHEAD + entry.key.as_str().len() + entry.value.len()
}
