//! Rows of every kind, counted.

use rusqlite::{Connection, Row, named_params};
use sterna_store::{Error, KeptRows, Status, StoreUsage, UnixMillis};

use super::codec::{get, maybe_time};
use crate::error::explain;

/// Counts the rows of the store.
pub(crate) fn usage(connection: &Connection, now: UnixMillis) -> Result<StoreUsage, Error> {
    let mut usage = StoreUsage::empty(now);
    let sql = count("status", "sterna_task GROUP BY status");
    let tasks = all(connection, &sql, now, |row| {
        let status: String = get(row, "extra")?;
        // Tasks in a status that no version knows are damaged, and shown as such in
        // the list of tasks.
        Ok(Status::parse(&status).zip(Some(kept(row)?)))
    })?;
    usage.tasks = tasks.into_iter().flatten().collect();
    let owners = all(connection, OWNERS, now, |row| {
        Ok((number(row, "owners")?, number(row, "most")?))
    })?;
    (usage.owners, usage.most_per_owner) = owners.first().copied().unwrap_or_default();
    let effects = count("count(*) FILTER (WHERE result IS NULL)", "sterna_effect");
    let effects = all(connection, &effects, now, |row| {
        Ok((kept(row)?, number(row, "extra")?))
    })?;
    (usage.effects, usage.unreported_effects) = effects.first().copied().unwrap_or_default();
    for (table, rows) in [
        ("sterna_round", &mut usage.rounds),
        ("sterna_blob", &mut usage.blobs),
    ] {
        let counted = all(connection, &count("0", table), now, kept)?;
        *rows = counted.first().copied().unwrap_or_default();
    }
    let bytes = "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size
                 WHERE :now = :now";
    let bytes = all(connection, bytes, now, |row| number(row, "bytes"))?;
    usage.disk_bytes = bytes.first().copied();
    Ok(usage)
}

/// Counts rows that have an end, as columns for [`kept`], and one more column.
fn count(extra: &str, from: &str) -> String {
    format!(
        "SELECT {extra} AS extra, count(*) AS rows,
            count(*) FILTER (WHERE expires_at <= :now) AS expired,
            count(*) FILTER (WHERE expires_at IS NULL) AS unlimited,
            max(expires_at) AS until FROM {from}"
    )
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    now: UnixMillis,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut statement = connection.prepare_cached(sql).map_err(explain)?;
    let values = named_params! {":now": now.get()};
    let mut rows = statement.query(values).map_err(explain)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        all.push(read(row)?);
    }
    Ok(all)
}

fn kept(row: &Row<'_>) -> Result<KeptRows, Error> {
    Ok(KeptRows::new(
        number(row, "rows")?,
        number(row, "expired")?,
        number(row, "unlimited")?,
        maybe_time(row, "until")?,
    ))
}

/// A count as the database has it, which has no unsigned numbers.
fn number(row: &Row<'_>, column: &str) -> Result<u64, Error> {
    let count: i64 = get(row, column)?;
    Ok(u64::try_from(count).unwrap_or_default())
}

const OWNERS: &str = "SELECT count(*) AS owners, coalesce(max(tasks), 0) AS most FROM
    (SELECT count(*) AS tasks FROM sterna_task
     WHERE status IN ('working', 'input_required') AND :now = :now GROUP BY principal)";
