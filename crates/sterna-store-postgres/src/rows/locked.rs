//! Tasks that calls are about to change, read under a lock.

use std::collections::BTreeMap;

use bytes::Bytes;
use sterna_store::machine::Known;
use sterna_store::{Answer, Asked, Commit, Entry, Error, Name, Phase, TaskId};
use tokio_postgres::Row;

use super::codec::{array, bytes, name, number};
use super::head::Head;
use super::{inbox, now};
use crate::error::Failure;
use crate::session::Session;
use crate::statement::Statement;

/// A task as it is until the end of the transaction.
pub(crate) struct LockedTask {
    pub(super) head: Head,
    values: Result<BTreeMap<Name, Bytes>, Error>,
    /// Every question the task ever asked, in that order.
    questions: Result<Vec<AskedRow>, Error>,
}

/// A question, and its answer while no worker has taken it.
struct AskedRow {
    asked: Asked,
    /// Order in which the answer came, and the answer.
    unread: Option<(u32, Bytes)>,
}

/// Handling of a task that another transaction has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockedElsewhere {
    /// It is left out, so that one row does not keep many calls waiting.
    Skip,
    Wait,
}

/// The rows that calls need.
#[derive(Default)]
pub(crate) struct Needs<'a> {
    tasks: Vec<&'a [u8]>,
    asking: Vec<&'a [u8]>,
    entries: (Vec<&'a [u8]>, Vec<&'a str>),
}

impl<'a> Needs<'a> {
    /// Adds the row of `task`.
    pub(crate) fn task(&mut self, task: &'a TaskId) {
        self.tasks.push(task.as_bytes());
    }

    /// Adds the questions of `task`.
    pub(crate) fn questions(&mut self, task: &'a TaskId) {
        self.asking.push(task.as_bytes());
    }

    /// Adds the values that `task` has under the keys of `entries`.
    pub(crate) fn values(&mut self, task: &'a TaskId, entries: &'a [Entry]) {
        for entry in entries {
            self.entries.0.push(task.as_bytes());
            self.entries.1.push(entry.key.as_str());
        }
    }

    /// Begins a transaction that locks the tasks, in one round trip. The other
    /// rows are read under the locks.
    pub(crate) async fn lock(
        self,
        session: &Session<'_>,
        elsewhere: LockedElsewhere,
    ) -> Result<BTreeMap<TaskId, Result<LockedTask, Error>>, Failure> {
        let questions = (!self.asking.is_empty()).then(|| select_questions(self.asking));
        let values = (!self.entries.0.is_empty()).then(|| select_values(self.entries));
        let statements = [Some(select_tasks(self.tasks, elsewhere)), questions, values];
        let wanted: [bool; 3] = std::array::from_fn(|number| statements[number].is_some());
        let mut rows = session
            .begin(statements.into_iter().flatten())
            .await?
            .into_iter();
        let [heads, questions, values] =
            wanted.map(|wanted| wanted.then(|| rows.next()).flatten().unwrap_or_default());
        let mut locked = BTreeMap::new();
        for row in &heads {
            let task = Head::from_row(row).map(|head| LockedTask {
                head,
                values: Ok(BTreeMap::new()),
                questions: Ok(Vec::new()),
            });
            locked.insert(id(row, "id")?, task);
        }
        for row in &questions {
            // A task that was left out may have rows here.
            if let Some(Ok(task)) = locked.get_mut(&id(row, "task")?) {
                add(&mut task.questions, asked_row(row), Vec::push);
            }
        }
        for row in &values {
            if let Some(Ok(task)) = locked.get_mut(&id(row, "task")?) {
                let value = name(row, "key").and_then(|key| Ok((key, bytes(row, "value")?)));
                add(&mut task.values, value, |values, value| {
                    values.extend([value]);
                });
            }
        }
        Ok(locked)
    }
}

impl LockedTask {
    /// Everything that `commit` depends on.
    pub(super) fn known(&mut self, commit: &Commit) -> Result<Known, Error> {
        let values = std::mem::replace(&mut self.values, Ok(BTreeMap::new()))?;
        let asked = if commit.open.is_some() || !commit.taken.is_empty() {
            self.asked()?
        } else {
            Vec::new()
        };
        Ok(Known::new(values, asked))
    }

    /// Every question the task ever asked, in that order.
    pub(super) fn asked(&mut self) -> Result<Vec<Asked>, Error> {
        let questions = self.take_questions()?;
        let asked = questions.iter().map(|row| row.asked.clone()).collect();
        self.questions = Ok(questions);
        Ok(asked)
    }

    /// Answers that no worker has taken and that `taken` does not name, in the
    /// order they came.
    pub(super) fn unread(&mut self, taken: &[Name]) -> Result<Vec<Answer>, Error> {
        let mut unread: Vec<_> = self
            .take_questions()?
            .into_iter()
            .filter(|row| !taken.contains(&row.asked.key))
            .filter_map(|row| {
                let (order, response) = row.unread?;
                Some((order, Answer::new(row.asked.key, response)))
            })
            .collect();
        unread.sort_by_key(|(order, _)| *order);
        Ok(unread.into_iter().map(|(_, answer)| answer).collect())
    }

    fn take_questions(&mut self) -> Result<Vec<AskedRow>, Error> {
        std::mem::replace(&mut self.questions, Ok(Vec::new()))
    }
}

/// Adds to what was read, unless a part of it cannot be read.
fn add<T, P>(parts: &mut Result<T, Error>, part: Result<P, Error>, push: impl Fn(&mut T, P)) {
    match (parts.as_mut(), part) {
        (Ok(parts), Ok(part)) => push(parts, part),
        (Ok(_), Err(error)) => *parts = Err(error),
        (Err(_), _) => {}
    }
}

fn id(row: &Row, column: &str) -> Result<TaskId, Error> {
    array(row, column).map(TaskId::from_bytes)
}

fn asked_row(row: &Row) -> Result<AskedRow, Error> {
    let asked = inbox::asked(row)?;
    let unread = match asked.phase {
        Phase::Answered => Some((number(row, "heard")?, bytes(row, "response")?)),
        _ => None,
    };
    Ok(AskedRow { asked, unread })
}

/// Locks tasks in the order of their ids, and reads them and the time.
fn select_tasks(tasks: Vec<&[u8]>, elsewhere: LockedElsewhere) -> Statement<'_> {
    macro_rules! select {
        ($end:literal) => {
            concat!(
                "SELECT task.*, ",
                now!(),
                " AS now FROM @task AS task WHERE id = ANY ($1) ORDER BY id FOR UPDATE",
                $end
            )
        };
    }
    Statement::new(match elsewhere {
        LockedElsewhere::Skip => select!(" SKIP LOCKED"),
        LockedElsewhere::Wait => select!(""),
    })
    .with(tasks)
}

fn select_questions(tasks: Vec<&[u8]>) -> Statement<'_> {
    Statement::new(
        "SELECT task, key, fingerprint, phase, heard,
                CASE WHEN phase = 'answered' THEN response END AS response
         FROM @question WHERE task = ANY ($1) ORDER BY task, position",
    )
    .with(tasks)
}

fn select_values<'a>((tasks, keys): (Vec<&'a [u8]>, Vec<&'a str>)) -> Statement<'a> {
    Statement::new(
        "SELECT entry.task, entry.key, entry.value
         FROM unnest($1, $2) AS wanted (task, key)
         JOIN @entry AS entry ON entry.task = wanted.task AND entry.key = wanted.key",
    )
    .with(tasks)
    .with(keys)
}
