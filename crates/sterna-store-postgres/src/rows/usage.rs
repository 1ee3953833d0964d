//! Rows of every kind, counted.

use std::time::Duration;

use sterna_store::{Error, KeptRows, Status, StoreUsage};
use tokio_postgres::Row;

use super::codec::{get, maybe_time, time};
use super::{Operation, now};
use crate::error::{Failure, damaged};
use crate::session::Session;
use crate::statement::Statement;

/// Counts the rows of the store.
pub(crate) struct CountRows;

/// Counts the rows of a table whose rows have an end, as columns for [`kept`].
macro_rules! count {
    ($columns:literal, $from:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " count(*) AS rows, count(*) FILTER (WHERE expires_at <= ",
            now!(),
            ") AS expired, count(*) FILTER (WHERE expires_at IS NULL) AS unlimited,
             max(expires_at) AS until FROM ",
            $from
        )
    };
}

impl Operation for CountRows {
    type Output = StoreUsage;

    /// A large table takes a while to be scanned.
    fn limit(&self, limit: Duration) -> Duration {
        limit.max(Duration::from_secs(60))
    }

    async fn run(&self, session: &Session<'_>) -> Result<StoreUsage, Failure> {
        // Counts of a moment would need a transaction, which holds back the vacuum
        // for as long as it lasts.
        let store = one(session, STORE).await?;
        let mut usage = StoreUsage::empty(time(&store, "now")?);
        usage.disk_bytes = get::<Option<i64>>(&store, "bytes")?.map(unsigned);
        let tasks = Statement::new(count!("status,", "@task GROUP BY status"));
        for row in session.run(tasks).await? {
            // Tasks in a status that no version knows are damaged, and shown as such
            // in the list of tasks.
            if let Some(status) = Status::parse(get(&row, "status")?) {
                usage.tasks.insert(status, kept(&row)?);
            }
        }
        let owners = one(session, OWNERS).await?;
        usage.owners = number(&owners, "owners")?;
        usage.most_per_owner = number(&owners, "most")?;
        let effects = count!(
            "count(*) FILTER (WHERE result IS NULL) AS unreported,",
            "@effect"
        );
        let effects = one(session, effects).await?;
        usage.effects = kept(&effects)?;
        usage.unreported_effects = number(&effects, "unreported")?;
        usage.rounds = kept(&one(session, count!("", "@round")).await?)?;
        usage.blobs = kept(&one(session, count!("", "@blob")).await?)?;
        Ok(usage)
    }
}

async fn one(session: &Session<'_>, sql: &'static str) -> Result<Row, Failure> {
    let rows = session.run(Statement::new(sql)).await?;
    let row = rows.into_iter().next();
    Ok(row.ok_or_else(|| damaged("a count has no row"))?)
}

fn kept(row: &Row) -> Result<KeptRows, Error> {
    Ok(KeptRows::new(
        number(row, "rows")?,
        number(row, "expired")?,
        number(row, "unlimited")?,
        maybe_time(row, "until")?,
    ))
}

fn number(row: &Row, column: &str) -> Result<u64, Error> {
    get(row, column).map(unsigned)
}

/// A count as the database has it, which has no unsigned numbers.
fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

/// The tables with their indexes, in the schema of `@task`.
const STORE: &str = concat!(
    "SELECT ",
    now!(),
    " AS now, (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
      WHERE relkind = 'r' AND relnamespace =
        (SELECT relnamespace FROM pg_class WHERE oid = '@task'::regclass)) AS bytes"
);

const OWNERS: &str = "SELECT count(*) AS owners, coalesce(max(tasks), 0)::bigint AS most FROM
    (SELECT count(*) AS tasks FROM @task
     WHERE status IN ('working', 'input_required') GROUP BY principal) AS each";
