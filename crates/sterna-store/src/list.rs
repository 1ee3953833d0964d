//! A caller's own tasks, page by page.

use std::fmt;
use std::str::FromStr;

use crate::{ParseIdError, Summary, TaskId, UnixMillis};

/// Which part of a list to read, oldest task first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// End of the page before; `None` for the first page.
    pub after: Option<Cursor>,
    /// Largest number of tasks to read.
    pub limit: u32,
}

impl Page {
    /// The first `limit` tasks.
    pub fn first(limit: u32) -> Self {
        Self { after: None, limit }
    }

    /// The next `limit` tasks after `cursor`.
    pub fn after(cursor: Cursor, limit: u32) -> Self {
        Self {
            after: Some(cursor),
            limit,
        }
    }
}

/// One part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The tasks, oldest first.
    pub tasks: Vec<Summary>,
    /// Cursor of the next page, if there is one.
    pub next: Option<Cursor>,
}

impl Listing {
    /// Cuts `tasks`, of which one more than `limit` was read, to its page.
    pub fn cut(mut tasks: Vec<Summary>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = tasks.len() > limit;
        tasks.truncate(limit);
        let last = tasks.last().filter(|_| more);
        let next = last.map(|task| Cursor::new(task.created_at, task.id));
        Self { tasks, next }
    }
}

/// A place in a list of tasks. Its text is safe to hand to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    created_at: UnixMillis,
    id: TaskId,
}

impl Cursor {
    /// The place after the task `id`.
    pub fn new(created_at: UnixMillis, id: TaskId) -> Self {
        Self { created_at, id }
    }

    /// When the last task seen was created.
    pub fn created_at(&self) -> UnixMillis {
        self.created_at
    }

    /// The last task seen.
    pub fn id(&self) -> TaskId {
        self.id
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.id, self.created_at.get())
    }
}

impl FromStr for Cursor {
    type Err = ParseIdError;

    /// Reads the text of `Display`. A forged cursor shows nothing that its
    /// caller may not see: lists are scoped to their principal.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let (id, created_at) = text.split_at_checked(32).ok_or(ParseIdError::new())?;
        let created_at = created_at.parse().map_err(|_| ParseIdError::new())?;
        Ok(Self::new(UnixMillis::new(created_at), id.parse()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Name, Status};

    #[test]
    fn a_page_leads_on_only_if_there_is_more() {
        let tasks = |count: u8| {
            let task = |number| Summary {
                id: TaskId::from_bytes([number; 16]),
                target: Name::new("tool").unwrap(),
                status: Status::Working,
                note: None,
                created_at: UnixMillis::new(0),
                updated_at: UnixMillis::new(0),
                expires_at: None,
            };
            (0..count).map(task).collect::<Vec<_>>()
        };
        assert_eq!(Listing::cut(tasks(2), 2).next, None);
        let page = Listing::cut(tasks(3), 2);
        assert_eq!(page.tasks.len(), 2);
        assert_eq!(page.next.unwrap().id(), TaskId::from_bytes([1; 16]));
    }

    #[test]
    fn a_cursor_survives_the_wire() {
        let cursor = Cursor::new(
            UnixMillis::new(1_700_000_000_123),
            TaskId::from_bytes([9; 16]),
        );
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for forged in ["", "x", "0909", &"é".repeat(40), &"9".repeat(99)] {
            assert!(forged.parse::<Cursor>().is_err(), "{forged}");
        }
    }
}
