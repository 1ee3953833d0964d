//! Rows as an operator sees them: sizes instead of values.

use bytes::Bytes;
use sterna_store::{
    Asked, Claimant, Effect, EffectQuery, EffectSurvey, EntrySize, Error, FlowId, Status,
    StoredValue, SurveyedEffect, SurveyedQuestion, SurveyedTask, TaskDetails, TaskId, TaskQuery,
    TaskSurvey, UnixMillis,
};
use tokio_postgres::Row;

use super::codec::{array, get, maybe_bytes, name, phase, time};
use super::head::Head;
use super::read::unreadable;
use super::{Operation, now};
use crate::error::{Failure, damaged};
use crate::session::Session;
use crate::statement::Statement;

impl Operation for TaskQuery {
    type Output = TaskSurvey;

    async fn run(&self, session: &Session<'_>) -> Result<TaskSurvey, Failure> {
        let before = self.before.as_ref();
        let id = before.map(|cursor| *cursor.id().as_bytes());
        let statement = Statement::new(
            "SELECT task.*, 0::bigint AS now FROM @task AS task
             WHERE ($1::text IS NULL OR status = $1)
               AND ($2::bigint IS NULL OR (created_at, id) < ($2, $3))
             ORDER BY created_at DESC, id DESC LIMIT $4",
        )
        .with(self.status.map(Status::as_str))
        .with(before.map(|cursor| cursor.created_at().get()))
        .with(id.as_ref().map(<[u8; 16]>::as_slice))
        .with(i64::from(self.limit) + 1);
        let rows = session.run(statement).await?;
        let tasks = rows.iter().filter_map(|row| match task(row) {
            Ok(task) => Some(task),
            // A row without an id cannot be asked for.
            Err(error) => {
                let id = array(row, "id").map(TaskId::from_bytes).ok()?;
                Some(SurveyedTask::unreadable(unreadable(row, id), &error))
            }
        });
        let tasks = tasks.collect();
        Ok(TaskSurvey::cut(tasks, self.limit, clock(session).await?))
    }
}

fn task(row: &Row) -> Result<SurveyedTask, Error> {
    let head = Head::from_row(row)?;
    let summary = head.summary();
    let mut task = SurveyedTask::new(summary, head.principal, head.flow, head.control);
    task.worker = get(row, "worker")?;
    Ok(task)
}

/// Shows one task with its journal and its questions.
pub(crate) struct Details {
    pub(crate) task: TaskId,
    pub(crate) limit: u32,
}

impl Operation for Details {
    type Output = Option<TaskDetails>;

    async fn run(&self, session: &Session<'_>) -> Result<Option<TaskDetails>, Failure> {
        let limit = i64::from(self.limit);
        let head = Statement::new(concat!(
            "SELECT task.*, ",
            now!(),
            " AS now, octet_length(request)::bigint AS request_bytes,
                octet_length(outcome)::bigint AS outcome_bytes
             FROM @task AS task LEFT JOIN @payload AS payload ON payload.task = task.id
             WHERE id = $1"
        ))
        .with(self.task.as_bytes().as_slice());
        let journal = Statement::new(
            "SELECT key, octet_length(value)::bigint AS bytes FROM @entry
             WHERE task = $1 ORDER BY seq LIMIT $2",
        )
        .with(self.task.as_bytes().as_slice())
        .with(limit);
        let questions = Statement::new(
            "SELECT key, fingerprint, phase, octet_length(request)::bigint AS request_bytes,
                octet_length(response)::bigint AS response_bytes
             FROM @question WHERE task = $1 ORDER BY position LIMIT $2",
        )
        .with(self.task.as_bytes().as_slice())
        .with(limit);
        // Three reads of a task that changes may differ by a moment. A transaction
        // would show one moment, and hold back the vacuum for as long as it lasts.
        let heads = session.run(head).await?;
        let Some(row) = heads.first() else {
            return Ok(None);
        };
        let request_bytes = maybe_size(row, "request_bytes")?.unwrap_or(0);
        let mut details = TaskDetails::new(task(row)?, request_bytes, time(row, "now")?);
        details.outcome_bytes = maybe_size(row, "outcome_bytes")?;
        let journal = session.run(journal).await?;
        let journal: Result<_, Error> = journal.iter().map(entry).collect();
        details.journal = journal?;
        let questions = session.run(questions).await?;
        let questions: Result<_, Error> = questions.iter().map(question).collect();
        details.questions = questions?;
        Ok(Some(details))
    }
}

fn entry(row: &Row) -> Result<EntrySize, Error> {
    let bytes = maybe_size(row, "bytes")?.unwrap_or(0);
    Ok(EntrySize::new(name(row, "key")?, bytes))
}

fn question(row: &Row) -> Result<SurveyedQuestion, Error> {
    let fingerprint = array(row, "fingerprint")?;
    let asked = Asked::new(name(row, "key")?, fingerprint, phase(row, "phase")?);
    let request_bytes = maybe_size(row, "request_bytes")?.unwrap_or(0);
    let response_bytes = maybe_size(row, "response_bytes")?;
    Ok(SurveyedQuestion::new(asked, request_bytes, response_bytes))
}

impl Operation for EffectQuery {
    type Output = EffectSurvey;

    async fn run(&self, session: &Session<'_>) -> Result<EffectSurvey, Failure> {
        let flow = self.flow.map(|flow| *flow.as_bytes());
        let statement = Statement::new(
            "SELECT flow, key, claimant, claimed_at, expires_at,
                octet_length(result)::bigint AS bytes
             FROM @effect WHERE ($1::bytea IS NULL OR flow = $1)
             ORDER BY claimed_at DESC, flow DESC, key DESC LIMIT $2",
        )
        .with(flow.as_ref().map(<[u8; 16]>::as_slice))
        .with(i64::from(self.limit) + 1);
        let rows = session.run(statement).await?;
        let effects: Result<_, Error> = rows.iter().map(effect).collect();
        let now = clock(session).await?;
        Ok(EffectSurvey::cut(effects?, self.limit, now))
    }
}

fn effect(row: &Row) -> Result<SurveyedEffect, Error> {
    let flow = FlowId::from_bytes(array(row, "flow")?);
    let mut shown = SurveyedEffect::new(
        Effect::new(flow, name(row, "key")?),
        Claimant::from_bytes(array(row, "claimant")?),
        time(row, "claimed_at")?,
        time(row, "expires_at")?,
    );
    shown.result_bytes = maybe_size(row, "bytes")?;
    Ok(shown)
}

/// Reads the beginning of one value.
pub(crate) struct ReadValue {
    pub(crate) task: TaskId,
    pub(crate) value: StoredValue,
    pub(crate) limit: u32,
}

impl Operation for ReadValue {
    type Output = Option<Bytes>;

    async fn run(&self, session: &Session<'_>) -> Result<Option<Bytes>, Failure> {
        let (sql, key) = match &self.value {
            StoredValue::Entry(key) => (
                "SELECT substr(value, 1, $3::bigint::int) AS value FROM @entry
                 WHERE task = $1 AND key = $2",
                Some(key.as_str()),
            ),
            StoredValue::Outcome => (
                "SELECT substr(outcome, 1, $3::bigint::int) AS value FROM @payload
                 WHERE task = $1 AND $2::text IS NULL",
                None,
            ),
            StoredValue::Question(key) => (
                "SELECT substr(request, 1, $3::bigint::int) AS value FROM @question
                 WHERE task = $1 AND key = $2",
                Some(key.as_str()),
            ),
            StoredValue::Request => (
                "SELECT substr(request, 1, $3::bigint::int) AS value FROM @payload
                 WHERE task = $1 AND $2::text IS NULL",
                None,
            ),
            StoredValue::Response(key) => (
                "SELECT substr(response, 1, $3::bigint::int) AS value FROM @question
                 WHERE task = $1 AND key = $2",
                Some(key.as_str()),
            ),
        };
        // The database counts bytes of a value in 31 bits.
        let limit = i64::from(self.limit.min(i32::MAX.unsigned_abs()));
        let statement = Statement::new(sql)
            .with(self.task.as_bytes().as_slice())
            .with(key)
            .with(limit);
        let rows = session.run(statement).await?;
        let value = rows.first().map(|row| maybe_bytes(row, "value"));
        Ok(value.transpose()?.flatten())
    }
}

/// The time of the database. A list without rows has none.
async fn clock(session: &Session<'_>) -> Result<UnixMillis, Failure> {
    let rows = session
        .run(Statement::new(concat!("SELECT ", now!(), " AS now")))
        .await?;
    let row = rows
        .first()
        .ok_or_else(|| damaged("the clock has no time"))?;
    Ok(time(row, "now")?)
}

fn maybe_size(row: &Row, column: &str) -> Result<Option<u64>, Error> {
    let size: Option<i64> = get(row, column)?;
    Ok(size.map(|size| u64::try_from(size).unwrap_or(0)))
}
