//! Everything that a transaction changes, one statement for each table.

use bytes::Bytes;
use sterna_store::machine::Changes;
use sterna_store::{Answer, Entry, Name, Note, Phase, Question, TaskId, UnixMillis};

use super::head::Head;
use crate::statement::Statement;

/// Changes to any number of tasks. They are written together: a call either adds
/// all of its changes or none.
#[derive(Default)]
pub(crate) struct Writes {
    heads: Vec<Head>,
    entries: Vec<(TaskId, u32, Entry)>,
    questions: Vec<(TaskId, Question)>,
    phases: Vec<(TaskId, Name, Phase)>,
    answers: Vec<(TaskId, u32, Answer)>,
    outcomes: Vec<(TaskId, Bytes)>,
    hints: Vec<String>,
}

impl Writes {
    /// Adds the row of a task.
    pub(super) fn save(&mut self, head: Head) {
        self.heads.push(head);
    }

    /// Adds what a commit changes in a task whose journal has `before` entries.
    pub(super) fn change(&mut self, id: TaskId, before: u32, changes: &Changes<'_>) {
        let entries = changes.append.iter().copied().cloned();
        let entries = (before..).zip(entries);
        self.entries
            .extend(entries.map(|(seq, entry)| (id, seq, entry)));
        let questions = changes.ask.iter().copied().cloned();
        self.questions
            .extend(questions.map(|question| (id, question)));
        let taken = changes.take.iter().map(|key| (*key, Phase::Taken));
        let opened = changes.reopen.iter().map(|key| (*key, Phase::Open));
        let withdrawn = changes.withdraw.iter().map(|key| (key, Phase::Withdrawn));
        let phases = taken.chain(opened).chain(withdrawn);
        self.phases
            .extend(phases.map(|(key, phase)| (id, key.clone(), phase)));
    }

    /// Adds answers to a task that had `before` of them.
    pub(super) fn answer(&mut self, id: TaskId, before: u32, answers: &[&Answer]) {
        let answers = (before.saturating_add(1)..).zip(answers.iter().copied().cloned());
        self.answers
            .extend(answers.map(|(order, answer)| (id, order, answer)));
    }

    /// Adds the end of a task.
    pub(super) fn end(&mut self, id: TaskId, outcome: Bytes) {
        self.outcomes.push((id, outcome));
    }

    /// Notifies the listeners about a task once the transaction has committed.
    ///
    /// Only answers and cancels are worth it: PostgreSQL lets one transaction with
    /// a notification commit at a time.
    pub(super) fn notify(&mut self, id: &TaskId) {
        self.hints.push(id.to_string());
    }

    /// Statements that write everything; notifications go to `channel`.
    pub(crate) fn statements<'a>(&'a self, channel: &'a str) -> Vec<Statement<'a>> {
        let statements = [
            (!self.entries.is_empty()).then(|| self.write_entries()),
            (!self.questions.is_empty()).then(|| self.write_questions()),
            (!self.phases.is_empty()).then(|| self.write_phases()),
            (!self.answers.is_empty()).then(|| self.write_answers()),
            (!self.outcomes.is_empty()).then(|| self.write_outcomes()),
            (!self.heads.is_empty()).then(|| self.write_heads()),
            (!self.hints.is_empty()).then(|| self.send_hints(channel)),
        ];
        statements.into_iter().flatten().collect()
    }

    fn write_entries(&self) -> Statement<'_> {
        let rows = &self.entries;
        Statement::new("INSERT INTO @entry SELECT * FROM unnest($1, $2, $3, $4)")
            .with(column(rows, |(id, ..)| id.as_bytes().as_slice()))
            .with(column(rows, |(_, seq, _)| i64::from(*seq)))
            .with(column(rows, |(.., entry)| entry.key.as_str()))
            .with(column(rows, |(.., entry)| &entry.value[..]))
    }

    fn write_questions(&self) -> Statement<'_> {
        let rows = &self.questions;
        Statement::new(
            "INSERT INTO @question (task, key, position, fingerprint, phase, request)
             SELECT task, key, row_number() OVER (PARTITION BY task ORDER BY seq) + (
                    SELECT count(*) FROM @question AS before WHERE before.task = asked.task
                ), fingerprint, 'open', request
             FROM unnest($1, $2, $3, $4) WITH ORDINALITY
                AS asked (task, key, fingerprint, request, seq)",
        )
        .with(column(rows, |(id, _)| id.as_bytes().as_slice()))
        .with(column(rows, |(_, question)| question.key.as_str()))
        .with(column(rows, |(_, question)| {
            question.fingerprint.as_slice()
        }))
        .with(column(rows, |(_, question)| &question.request[..]))
    }

    fn write_phases(&self) -> Statement<'_> {
        let rows = &self.phases;
        Statement::new(
            "UPDATE @question AS question SET phase = changed.phase
             FROM unnest($1, $2, $3) AS changed (task, key, phase)
             WHERE question.task = changed.task AND question.key = changed.key",
        )
        .with(column(rows, |(id, ..)| id.as_bytes().as_slice()))
        .with(column(rows, |(_, key, _)| key.as_str()))
        .with(column(rows, |(.., phase)| phase.as_str()))
    }

    fn write_answers(&self) -> Statement<'_> {
        let rows = &self.answers;
        Statement::new(
            "UPDATE @question AS question
             SET phase = 'answered', response = told.response, heard = told.heard
             FROM unnest($1, $2, $3, $4) AS told (task, key, response, heard)
             WHERE question.task = told.task AND question.key = told.key",
        )
        .with(column(rows, |(id, ..)| id.as_bytes().as_slice()))
        .with(column(rows, |(.., answer)| answer.key.as_str()))
        .with(column(rows, |(.., answer)| &answer.response[..]))
        .with(column(rows, |(_, order, _)| i64::from(*order)))
    }

    fn write_outcomes(&self) -> Statement<'_> {
        let rows = &self.outcomes;
        Statement::new(
            "UPDATE @payload AS payload SET outcome = ended.outcome
             FROM unnest($1, $2) AS ended (task, outcome) WHERE payload.task = ended.task",
        )
        .with(column(rows, |(id, _)| id.as_bytes().as_slice()))
        .with(column(rows, |(_, outcome)| &outcome[..]))
    }

    /// Writes back what can change in the rows of tasks.
    fn write_heads(&self) -> Statement<'_> {
        let rows = &self.heads;
        Statement::new(
            "UPDATE @task AS task SET
                status = saved.status, note = saved.note, updated_at = saved.updated_at,
                due_at = saved.due_at, attempts = saved.attempts, entries = saved.entries,
                open = saved.open, unread = saved.unread, heard = saved.heard,
                worker = CASE WHEN saved.held THEN task.worker END
             FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS saved (
                id, status, note, updated_at, due_at, attempts, entries, open, unread, heard, held
             )
             WHERE task.id = saved.id",
        )
        .with(column(rows, |head| head.id.as_bytes().as_slice()))
        .with(column(rows, |head| head.control.status.as_str()))
        .with(column(rows, |head| head.note.as_ref().map(Note::as_str)))
        .with(column(rows, |head| head.updated_at.get()))
        .with(column(rows, |head| {
            head.control.due_at.map(UnixMillis::get)
        }))
        .with(column(rows, |head| i64::from(head.control.attempts)))
        .with(column(rows, |head| i64::from(head.control.entries)))
        .with(column(rows, |head| i64::from(head.control.open)))
        .with(column(rows, |head| i64::from(head.control.unread)))
        .with(column(rows, |head| i64::from(head.heard)))
        .with(column(rows, |head| head.control.held))
    }

    fn send_hints<'a>(&'a self, channel: &'a str) -> Statement<'a> {
        Statement::new("SELECT pg_notify($1, task)::text FROM unnest($2) AS task")
            .with(channel)
            .with(column(&self.hints, String::as_str))
    }
}

/// The values of `rows` in one column.
fn column<'a, R, V>(rows: &'a [R], value: impl Fn(&'a R) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}
