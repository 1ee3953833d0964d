//! Tasks end and go.

use sterna_store::{Error, Event, Lease, Outcome, Owner, Status, Sweep, Swept, TaskId, UnixMillis};

use super::codec::count;
use super::damage::Damage;
use super::head::Head;
use super::locked::LockedTask;
use super::verb::Verb;
use super::writes::Writes;
use super::{Operation, now};
use crate::error::{Failure, gone};
use crate::session::Session;
use crate::statement::Statement;

/// Cancels a task, and notifies the listeners.
pub(crate) struct Cancel {
    pub(crate) caller: Owner,
    pub(crate) task: TaskId,
}

impl Verb for Cancel {
    type Output = Option<Status>;

    fn task(&self) -> &TaskId {
        &self.task
    }

    fn reads_questions(&self) -> bool {
        false
    }

    fn decide(
        &self,
        task: Option<LockedTask>,
        writes: &mut Writes,
    ) -> Result<Option<Status>, Error> {
        let head = task.map(|task| task.head);
        let Some(mut head) = head.filter(|head| head.principal == self.caller) else {
            return Ok(None);
        };
        let ended = head.control.end(Event::Cancelled, head.now);
        let status = head.control.status;
        if ended {
            head.updated_at = head.now;
            writes.notify(&head.id);
            writes.save(head);
        }
        Ok(Some(status))
    }
}

/// Ends a task.
pub(crate) struct Finish {
    pub(crate) lease: Lease,
    pub(crate) outcome: Outcome,
}

impl Verb for Finish {
    type Output = Status;

    fn task(&self) -> &TaskId {
        &self.lease.task
    }

    fn reads_questions(&self) -> bool {
        false
    }

    fn decide(&self, task: Option<LockedTask>, writes: &mut Writes) -> Result<Status, Error> {
        let mut head = task.ok_or_else(gone)?.head;
        let ended = head
            .control
            .finish(self.lease.fence, self.outcome.event())?;
        let status = head.control.status;
        if ended {
            head.updated_at = head.now;
            if let Some(payload) = self.outcome.payload() {
                writes.end(head.id, payload.clone());
            }
        }
        writes.save(head);
        Ok(status)
    }
}

impl Operation for Sweep {
    type Output = (Swept, Vec<Damage>);

    async fn run(&self, session: &Session<'_>) -> Result<Self::Output, Failure> {
        let rows = session.begin([expired(self.limit)]).await?;
        let (mut late, mut damages) = (0, Vec::new());
        let mut writes = Writes::default();
        for row in rows.iter().flatten() {
            match Head::from_row(row) {
                Ok(mut head) => {
                    head.control.end(Event::Failed, head.now);
                    head.updated_at = head.now;
                    writes.end(head.id, self.error.clone());
                    writes.save(head);
                    late += 1;
                }
                Err(error) => damages.push(Damage::of(row, error)),
            }
        }
        let mut statements: Vec<_> = Damage::set_aside(&damages).into_iter().collect();
        statements.extend(writes.statements(session.schema().as_str()));
        statements.push(delete(self));
        let rows = session.commit(statements).await?;
        // The last statement before the commit deleted.
        let deleted = rows.iter().rev().nth(1).map_or(0, Vec::len);
        let expired = count(late + damages.len());
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
