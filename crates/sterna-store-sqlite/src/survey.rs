//! The operator's view of a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use sterna_store::{
    BoxFuture, EffectQuery, EffectSurvey, Error, ErrorKind, StoreUsage, StoredValue, Survey,
    TaskDetails, TaskId, TaskQuery, TaskSurvey,
};

use crate::clock::Clock;
use crate::open::reader;
use crate::schema;
use crate::thread::{Access, ConnectionHandle, Durability, start};
use crate::{Config, rows};

/// A store in a file, as its operator sees it.
///
/// It makes no file, changes no table and writes nothing, so it can be opened
/// while servers work on the file.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sterna_store::{Survey, TaskQuery};
/// use sterna_store_sqlite::{Config, SqliteStore, SqliteSurvey};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("tasks.db");
/// let store = SqliteStore::open(&path, Config::default())?;
///
/// let survey = SqliteSurvey::open(&path)?;
/// assert!(survey.survey_tasks(TaskQuery::latest(10)).await?.tasks.is_empty());
/// # drop(store);
/// # Ok(())
/// # }
/// ```
pub struct SqliteSurvey {
    read: ConnectionHandle,
}

impl SqliteSurvey {
    /// Opens the database at `path`, which must exist.
    ///
    /// # Errors
    ///
    /// `Denied` if there is no such file or it cannot be read, `Corrupt` if it is no
    /// database, `Incompatible` if its tables are not the ones that this program
    /// knows.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let config = Config::default();
        let path = path.as_ref();
        let connection = reader(path, &config).map_err(|error| match error.kind() {
            ErrorKind::Denied => {
                let path = path.display();
                let text = format!("{path} cannot be opened: it must exist and be readable");
                let code = error.code().unwrap_or("MR0705");
                Error::new(ErrorKind::Denied, text)
                    .with_code(code)
                    .because(error)
            }
            _ => error,
        })?;
        schema::check(&connection)?;
        let clock = Arc::new(Clock::system());
        let started = start(connection, Access::Read, config.queue, config.batch, clock);
        let (read, _) = started.map_err(|error| {
            Error::new(ErrorKind::Unavailable, "the system has no thread left").because(error)
        })?;
        Ok(Self { read })
    }
}

impl fmt::Debug for SqliteSurvey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSurvey").finish_non_exhaustive()
    }
}

impl Survey for SqliteSurvey {
    fn survey_tasks(&self, query: TaskQuery) -> BoxFuture<'_, Result<TaskSurvey, Error>> {
        self.read.call(Durability::Process, move |connection, now| {
            rows::survey::tasks(connection, query, now)
        })
    }

    fn survey_task(
        &self,
        task: TaskId,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<TaskDetails>, Error>> {
        self.read.call(Durability::Process, move |connection, now| {
            rows::survey::details(connection, task, limit, now)
        })
    }

    fn survey_effects(&self, query: EffectQuery) -> BoxFuture<'_, Result<EffectSurvey, Error>> {
        self.read.call(Durability::Process, move |connection, now| {
            rows::survey::effects(connection, query, now)
        })
    }

    fn survey_usage(&self) -> BoxFuture<'_, Result<StoreUsage, Error>> {
        self.read.call(Durability::Process, rows::usage::usage)
    }

    fn survey_value(
        &self,
        task: TaskId,
        value: StoredValue,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.read.call(Durability::Process, move |connection, _| {
            rows::survey::value(connection, task, &value, limit)
        })
    }
}
