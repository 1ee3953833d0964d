//! Calls that change one task.

use sterna_store::{Entry, Error, TaskId};

use super::Operation;
use super::locked::{LockedElsewhere, LockedTask, Needs};
use super::writes::Writes;
use crate::error::Failure;
use crate::session::Session;

/// A call that changes one task: the rows that it needs, and its decision.
///
/// Many of them may share a transaction, because a decision is made on rows that
/// are locked and has no effect but its writes.
pub(crate) trait Verb: Send + Sync + 'static {
    /// The result of the call.
    type Output: Send + 'static;

    /// The task that it changes.
    fn task(&self) -> &TaskId;

    /// Entries whose keys it looks up in the journal.
    fn entries(&self) -> &[Entry] {
        &[]
    }

    /// Returns whether it looks at the task's questions.
    fn reads_questions(&self) -> bool;

    /// Decides about `task`, which is `None` if it does not exist, and adds the
    /// changes to `writes`. An error adds nothing.
    fn decide(&self, task: Option<LockedTask>, writes: &mut Writes) -> Result<Self::Output, Error>;

    /// Adds the rows that it needs.
    fn add_needs<'a>(&'a self, needs: &mut Needs<'a>) {
        let task = self.task();
        needs.task(task);
        needs.values(task, self.entries());
        if self.reads_questions() {
            needs.questions(task);
        }
    }
}

/// A verb in a transaction of its own.
impl<V: Verb> Operation for V {
    type Output = V::Output;

    async fn run(&self, session: &Session<'_>) -> Result<V::Output, Failure> {
        let mut needs = Needs::default();
        self.add_needs(&mut needs);
        let mut locked = needs.lock(session, LockedElsewhere::Wait).await?;
        let task = locked.remove(self.task()).transpose()?;
        let mut writes = Writes::default();
        let output = self.decide(task, &mut writes)?;
        let channel = session.schema().as_str();
        session.commit(writes.statements(channel)).await?;
        Ok(output)
    }
}
