//! Rows as an operator sees them: sizes instead of values.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use sterna_store::{
    Asked, Claimant, Effect, EffectQuery, EffectSurvey, EntrySize, Error, ErrorKind, FlowId,
    Status, StoredValue, SurveyedEffect, SurveyedQuestion, SurveyedTask, TaskDetails, TaskId,
    TaskQuery, TaskSurvey, UnixMillis,
};

use super::codec::{array, get, name, phase, time};
use super::head::Head;
use super::read::unreadable;
use crate::error::explain;

pub(crate) fn tasks(
    connection: &Connection,
    query: TaskQuery,
    now: UnixMillis,
) -> Result<TaskSurvey, Error> {
    let before = query.before;
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM sterna_task
             WHERE (:status IS NULL OR status = :status)
               AND (:created_at IS NULL OR (created_at, id) < (:created_at, :id))
             ORDER BY created_at DESC, id DESC LIMIT :limit",
        )
        .map_err(explain)?;
    let mut rows = statement
        .query(named_params! {
            ":status": query.status.map(Status::as_str),
            ":created_at": before.map(|cursor| cursor.created_at().get()),
            ":id": before.map(|cursor| *cursor.id().as_bytes()),
            ":limit": i64::from(query.limit) + 1,
        })
        .map_err(explain)?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        tasks.extend(task_or_problem(row)?);
    }
    Ok(TaskSurvey::cut(tasks, query.limit, now))
}

/// A task of a list. A row without an id cannot be asked for and is left out.
fn task_or_problem(row: &Row<'_>) -> Result<Option<SurveyedTask>, Error> {
    match task(row) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            let id = array(row, "id").map(TaskId::from_bytes).ok();
            Ok(id.map(|id| SurveyedTask::unreadable(unreadable(row, id), &error)))
        }
        task => task.map(Some),
    }
}

fn task(row: &Row<'_>) -> Result<SurveyedTask, Error> {
    let head = Head::from_row(row)?;
    let summary = head.summary();
    let mut task = SurveyedTask::new(summary, head.principal, head.flow, head.control);
    task.worker = head.worker;
    Ok(task)
}

pub(crate) fn details(
    connection: &Connection,
    id: TaskId,
    limit: u32,
    now: UnixMillis,
) -> Result<Option<TaskDetails>, Error> {
    let sql = "SELECT sterna_task.*, length(request) AS request_bytes,
                      length(outcome) AS outcome_bytes
               FROM sterna_task LEFT JOIN sterna_payload ON task = id WHERE id = :task LIMIT :limit";
    let found = select(connection, sql, id, 1, |row| {
        let request_bytes = size(row, "request_bytes")?.unwrap_or(0);
        let mut details = TaskDetails::new(task(row)?, request_bytes, now);
        details.outcome_bytes = size(row, "outcome_bytes")?;
        Ok(details)
    })?;
    let Some(mut details) = found.into_iter().next() else {
        return Ok(None);
    };
    let sql = "SELECT key, length(value) AS bytes FROM sterna_entry
               WHERE task = :task ORDER BY seq LIMIT :limit";
    details.journal = select(connection, sql, id, limit, |row| {
        let bytes = size(row, "bytes")?.unwrap_or(0);
        Ok(EntrySize::new(name(row, "key")?, bytes))
    })?;
    let sql = "SELECT key, fingerprint, phase, length(request) AS request_bytes,
                      length(response) AS response_bytes
               FROM sterna_question WHERE task = :task ORDER BY position LIMIT :limit";
    details.questions = select(connection, sql, id, limit, |row| {
        let fingerprint = array(row, "fingerprint")?;
        let asked = Asked::new(name(row, "key")?, fingerprint, phase(row, "phase")?);
        let request_bytes = size(row, "request_bytes")?.unwrap_or(0);
        let response_bytes = size(row, "response_bytes")?;
        Ok(SurveyedQuestion::new(asked, request_bytes, response_bytes))
    })?;
    Ok(Some(details))
}

fn select<T>(
    connection: &Connection,
    sql: &str,
    id: TaskId,
    limit: u32,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut statement = connection.prepare_cached(sql).map_err(explain)?;
    let mut rows = statement
        .query(named_params! { ":task": id.as_bytes(), ":limit": limit })
        .map_err(explain)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Size of a value; `None` if there is none.
fn size(row: &Row<'_>, column: &str) -> Result<Option<u64>, Error> {
    let size: Option<i64> = get(row, column)?;
    Ok(size.map(|size| u64::try_from(size).unwrap_or(0)))
}

pub(crate) fn effects(
    connection: &Connection,
    query: EffectQuery,
    now: UnixMillis,
) -> Result<EffectSurvey, Error> {
    let mut statement = connection
        .prepare_cached(
            "SELECT flow, key, claimant, claimed_at, expires_at, length(result) AS bytes
             FROM sterna_effect WHERE (:flow IS NULL OR flow = :flow)
             ORDER BY claimed_at DESC, flow DESC, key DESC LIMIT :limit",
        )
        .map_err(explain)?;
    let mut rows = statement
        .query(named_params! {
            ":flow": query.flow.map(|flow| *flow.as_bytes()),
            ":limit": i64::from(query.limit) + 1,
        })
        .map_err(explain)?;
    let mut effects = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        let flow = FlowId::from_bytes(array(row, "flow")?);
        let mut shown = SurveyedEffect::new(
            Effect::new(flow, name(row, "key")?),
            Claimant::from_bytes(array(row, "claimant")?),
            time(row, "claimed_at")?,
            time(row, "expires_at")?,
        );
        shown.result_bytes = size(row, "bytes")?;
        effects.push(shown);
    }
    Ok(EffectSurvey::cut(effects, query.limit, now))
}

pub(crate) fn value(
    connection: &Connection,
    task: TaskId,
    value: &StoredValue,
    limit: u32,
) -> Result<Option<Bytes>, Error> {
    let (sql, key) = match value {
        StoredValue::Entry(key) => (
            "SELECT substr(value, 1, ?3) FROM sterna_entry WHERE task = ?1 AND key = ?2",
            Some(key.as_str()),
        ),
        StoredValue::Outcome => (
            "SELECT substr(outcome, 1, ?3) FROM sterna_payload WHERE task = ?1 AND ?2 IS NULL",
            None,
        ),
        StoredValue::Question(key) => (
            "SELECT substr(request, 1, ?3) FROM sterna_question WHERE task = ?1 AND key = ?2",
            Some(key.as_str()),
        ),
        StoredValue::Request => (
            "SELECT substr(request, 1, ?3) FROM sterna_payload WHERE task = ?1 AND ?2 IS NULL",
            None,
        ),
        StoredValue::Response(key) => (
            "SELECT substr(response, 1, ?3) FROM sterna_question WHERE task = ?1 AND key = ?2",
            Some(key.as_str()),
        ),
    };
    let found: Option<Option<Vec<u8>>> = connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            let first = statement.query_row((task.as_bytes(), key, limit), |row| row.get(0));
            first.optional()
        })
        .map_err(explain)?;
    Ok(found.flatten().map(Bytes::from))
}
