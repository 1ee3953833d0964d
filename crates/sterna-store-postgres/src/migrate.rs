//! Tables, and how they change from one version to the next.

use std::time::Duration;

use sterna_store::{Error, ErrorKind};

use crate::Schema;
use crate::error::Failure;
use crate::rows::Operation;
use crate::session::Session;
use crate::statement::Statement;

/// Every version's changes, in order. What stands here is never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
];

/// Finds out which version the tables have; 0 if there are none.
pub(crate) struct Find(pub(crate) Schema);

impl Operation for Find {
    type Output = i64;

    async fn run(&self, session: &Session<'_>) -> Result<i64, Failure> {
        version(session, &self.0).await
    }
}

/// Applies the changes that are missing.
pub(crate) struct Apply(pub(crate) Schema);

impl Operation for Apply {
    type Output = ();

    fn limit(&self, _: Duration) -> Duration {
        // A migration takes as long as the tables are big, and waits for the
        // instance that began with it.
        Duration::from_secs(3600)
    }

    async fn run(&self, session: &Session<'_>) -> Result<(), Failure> {
        let schema = self.0.as_str();
        session.begin([]).await?;
        // Instances that start at once wait here for the first of them. The
        // lock belongs to the transaction, so a pooler cannot misplace it.
        session
            .script(&format!(
                "SELECT pg_advisory_xact_lock(hashtext('sterna'), hashtext('{schema}'));
                 CREATE SCHEMA IF NOT EXISTS {schema};
                 SET LOCAL search_path TO {schema};
                 CREATE TABLE IF NOT EXISTS migration (
                     version    bigint PRIMARY KEY,
                     applied_at timestamptz NOT NULL DEFAULT now()
                 )"
            ))
            .await?;
        let found = version(session, &self.0).await?;
        let missing = usize::try_from(found)
            .ok()
            .and_then(|found| MIGRATIONS.get(found..));
        let Some(missing) = missing else {
            return Err(newer(found).into());
        };
        for (version, changes) in (found + 1..).zip(missing) {
            session.script(changes).await?;
            session
                .script(&format!(
                    "INSERT INTO migration (version) VALUES ({version})"
                ))
                .await?;
        }
        session.commit([]).await?;
        Ok(())
    }
}

async fn version(session: &Session<'_>, schema: &Schema) -> Result<i64, Failure> {
    let table = format!("{}.migration", schema.as_str());
    let exists = Statement::new("SELECT to_regclass($1)::text AS found").with(table.as_str());
    let rows = session.run(exists).await?;
    if rows
        .first()
        .and_then(|row| row.get::<_, Option<&str>>(0))
        .is_none()
    {
        return Ok(0);
    }
    let newest = Statement::new("SELECT coalesce(max(version), 0) FROM @migration");
    let rows = session.run(newest).await?;
    Ok(rows.first().map_or(0, |row| row.get(0)))
}

pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

pub(crate) fn newer(found: i64) -> Error {
    let newest = newest();
    Error::new(
        ErrorKind::Incompatible,
        format!(
            "the database has schema {found} and this program knows {newest}: \
             run the newer version that wrote it, or use another schema"
        ),
    )
    .with_code("MR0701")
}

pub(crate) fn older(found: i64) -> Error {
    let newest = newest();
    Error::new(
        ErrorKind::Incompatible,
        format!(
            "the database has schema {found} and this program needs {newest}: migrate it first"
        ),
    )
    .with_code("MR0702")
}
