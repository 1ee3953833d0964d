//! Tasks end and go.

use sterna_store::{Event, Lease, Outcome, Owner, Status, Sweep, Swept, TaskId, UnixMillis};

use super::codec::count;
use super::damage::Damage;
use super::head::{Head, lock};
use super::inbox::notify;
use super::{Operation, now};
use crate::error::{Failure, gone};
use crate::session::Session;
use crate::statement::Statement;

/// Cancels a task, and notifies the listeners.
pub(crate) struct Cancel {
    pub(crate) caller: Owner,
    pub(crate) task: TaskId,
    pub(crate) channel: String,
}

impl Operation for Cancel {
    type Output = Option<Status>;

    async fn run(&self, session: &Session<'_>) -> Result<Option<Status>, Failure> {
        let rows = session.begin([lock(&self.task)]).await?;
        let head = Head::first(&rows[0])?;
        let Some(mut head) = head.filter(|head| head.principal == self.caller) else {
            return Ok(None);
        };
        if head.control.end(Event::Cancelled, head.now) {
            head.updated_at = head.now;
            let id = self.task.to_string();
            session
                .commit([head.save(), notify(&self.channel, &id)])
                .await?;
        }
        Ok(Some(head.control.status))
    }
}

/// Ends a task.
pub(crate) struct Finish {
    pub(crate) lease: Lease,
    pub(crate) outcome: Outcome,
}

impl Operation for Finish {
    type Output = Status;

    async fn run(&self, session: &Session<'_>) -> Result<Status, Failure> {
        let rows = session.begin([lock(&self.lease.task)]).await?;
        let mut head = Head::first(&rows[0])?.ok_or_else(gone)?;
        let ended = head
            .control
            .finish(self.lease.fence, self.outcome.event())?;
        if ended {
            head.updated_at = head.now;
        }
        let payload = self.outcome.payload().filter(|_| ended);
        let outcome = payload.map(|payload| write_outcome(&self.lease.task, payload));
        session
            .commit(outcome.into_iter().chain([head.save()]))
            .await?;
        Ok(head.control.status)
    }
}

fn write_outcome<'a>(id: &'a TaskId, outcome: &'a [u8]) -> Statement<'a> {
    Statement::new("UPDATE @payload SET outcome = $2 WHERE task = $1")
        .with(id.as_bytes().as_slice())
        .with(outcome)
}

impl Operation for Sweep {
    type Output = (Swept, Vec<Damage>);

    async fn run(&self, session: &Session<'_>) -> Result<Self::Output, Failure> {
        let rows = session.begin([expired(self.limit)]).await?;
        let (mut late, mut damages) = (Vec::new(), Vec::new());
        for row in rows.iter().flatten() {
            match Head::from_row(row) {
                Ok(mut head) => {
                    head.control.end(Event::Failed, head.now);
                    head.updated_at = head.now;
                    late.push(head);
                }
                Err(error) => damages.push(Damage::of(row, error)),
            }
        }
        let mut statements: Vec<_> = Damage::set_aside(&damages).into_iter().collect();
        for head in &late {
            statements.extend([write_outcome(&head.id, &self.error), head.save()]);
        }
        statements.push(delete(self));
        let rows = session.commit(statements).await?;
        // The last statement before the commit deleted.
        let deleted = rows.iter().rev().nth(1).map_or(0, Vec::len);
        let expired = count(late.len() + damages.len());
        Ok((Swept::new(expired, count(deleted)), damages))
    }
}

/// Tasks whose time is up and that have not ended.
fn expired(limit: u32) -> Statement<'static> {
    Statement::new(concat!(
        "SELECT task.*, ",
        now!(),
        " AS now FROM @task AS task
         WHERE expires_at <= ",
        now!(),
        " AND status IN ('working', 'input_required')
         LIMIT $1 FOR UPDATE SKIP LOCKED"
    ))
    .with(i64::from(limit))
}

/// Deletes tasks that ended long enough ago and have nothing left to undo.
fn delete(sweep: &Sweep) -> Statement<'static> {
    Statement::new(concat!(
        "DELETE FROM @task WHERE id IN (
            SELECT id FROM @task
            WHERE expires_at <= ",
        now!(),
        " - $1 AND due_at IS NULL AND status NOT IN ('working', 'input_required')
            LIMIT $2 FOR UPDATE SKIP LOCKED
         ) RETURNING 1"
    ))
    .with(UnixMillis::span(sweep.keep))
    .with(i64::from(sweep.limit))
}
