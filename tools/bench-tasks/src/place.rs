//! Where the tasks of one measurement are kept.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use sterna_store::{Store, Survey};
use sterna_store_postgres::{Config, PostgresStore, PostgresSurvey, Schema};
use sterna_store_sqlite::{SqliteStore, SqliteSurvey};

/// A store that another process can be told of.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Place {
    /// A file of SQLite, or how to reach PostgreSQL
    #[arg(long)]
    pub(crate) store: String,
    /// The schema, of PostgreSQL
    #[arg(long)]
    pub(crate) schema: Option<String>,
}

impl Place {
    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>> {
        let Some(schema) = &self.schema else {
            let config = sterna_store_sqlite::Config::default();
            return Ok(Arc::new(SqliteStore::open(&self.store, config)?));
        };
        let config = self.config(schema)?;
        Ok(Arc::new(PostgresStore::connect(config).await?))
    }

    /// Size of the store.
    pub(crate) async fn disk_bytes(&self) -> Result<u64> {
        let survey: Box<dyn Survey> = match &self.schema {
            Some(schema) => Box::new(PostgresSurvey::connect(self.config(schema)?).await?),
            None => Box::new(SqliteSurvey::open(&self.store)?),
        };
        let usage = survey.survey_usage().await?;
        Ok(usage.disk_bytes.unwrap_or_default())
    }

    fn config(&self, schema: &str) -> Result<Config> {
        let mut config = Config::new(&self.store)?;
        config.schema = Schema::new(schema)?;
        config.connections = 8;
        config.wait = Duration::from_secs(60);
        Ok(config)
    }

    /// As the command line takes it.
    pub(crate) fn args(&self) -> Vec<&str> {
        let mut args = vec!["--store", &self.store];
        if let Some(schema) = &self.schema {
            args.extend(["--schema", schema]);
        }
        args
    }
}
