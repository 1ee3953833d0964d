//! The operator's view of a database.

use bytes::Bytes;
use sterna_store::{
    BoxFuture, EffectQuery, EffectSurvey, Error, StoreUsage, StoredValue, Survey, TaskDetails,
    TaskId, TaskQuery, TaskSurvey,
};

use crate::rows::survey::{Details, ReadValue};
use crate::rows::usage::CountRows;
use crate::{Config, Hints, Migrate, PostgresStore, Replication};

/// A store in a database, as its operator sees it.
///
/// It changes no table and writes nothing: a role that may only read is enough.
///
/// ```no_run
/// # async fn run() -> Result<(), sterna_store::Error> {
/// use sterna_store::{Survey, TaskQuery};
/// use sterna_store_postgres::{Config, PostgresSurvey};
///
/// let config = Config::new("postgres://operator@localhost/tasks")?;
/// let survey = PostgresSurvey::connect(config).await?;
/// for task in survey.survey_tasks(TaskQuery::latest(20)).await?.tasks {
///     println!("{} {}", task.summary.id, task.summary.status.as_str());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PostgresSurvey(PostgresStore);

impl PostgresSurvey {
    /// Connects. At most two connections are used, and none for hints, whatever
    /// `config` says about them.
    ///
    /// # Errors
    ///
    /// As [`PostgresStore::connect`] with [`Migrate::Never`].
    pub async fn connect(mut config: Config) -> Result<Self, Error> {
        config.migrate = Migrate::Never;
        config.hints = Hints::Off;
        config.connections = config.connections.min(2);
        PostgresStore::connect(config).await.map(Self)
    }

    /// Replication of the server that takes the writes.
    pub fn replication(&self) -> Replication {
        self.0.replication()
    }
}

impl Survey for PostgresSurvey {
    fn survey_tasks(&self, query: TaskQuery) -> BoxFuture<'_, Result<TaskSurvey, Error>> {
        self.0.run(query)
    }

    fn survey_task(
        &self,
        task: TaskId,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<TaskDetails>, Error>> {
        self.0.run(Details { task, limit })
    }

    fn survey_effects(&self, query: EffectQuery) -> BoxFuture<'_, Result<EffectSurvey, Error>> {
        self.0.run(query)
    }

    fn survey_usage(&self) -> BoxFuture<'_, Result<StoreUsage, Error>> {
        self.0.run(CountRows)
    }

    fn survey_value(
        &self,
        task: TaskId,
        value: StoredValue,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.0.run(ReadValue { task, value, limit })
    }
}
