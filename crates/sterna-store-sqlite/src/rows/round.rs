//! Rounds that are answered once.

use bytes::Bytes;
use rusqlite::Connection;
use std::time::Duration;
use sterna_store::machine::{RoundRecord, not_yours};
use sterna_store::{Claimant, Error, Round, RoundClaim, RoundEntry, UnixMillis};

use super::codec::{array, maybe_bytes, time};
use crate::error::explain;

pub(crate) fn enter(
    connection: &Connection,
    round: Round,
    entry: &RoundEntry,
    now: UnixMillis,
    leases: UnixMillis,
) -> Result<RoundClaim, Error> {
    let (record, entered) = match load(connection, round)? {
        Some(mut record) => {
            // A lease that seems to have ended because the clock was set has not.
            if leases < record.lease_until {
                record.lease_until = record.lease_until.max(now + MOMENT);
            }
            let entered = record.enter(entry, now);
            (record, entered)
        }
        None => (RoundRecord::entered(entry, now), RoundClaim::Yours),
    };
    if entered == RoundClaim::Yours {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO sterna_round VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)",
            )
            .and_then(|mut statement| {
                statement.execute((
                    round.flow.as_bytes(),
                    round.number,
                    record.digest,
                    record.claimant.as_bytes(),
                    record.entered_at.get(),
                    record.lease_until.get(),
                    record.expires_at.get(),
                ))
            })
            .map_err(explain)?;
    }
    Ok(entered)
}

pub(crate) fn leave(
    connection: &Connection,
    round: Round,
    claimant: Claimant,
    response: &Bytes,
    now: UnixMillis,
) -> Result<(), Error> {
    let record = load(connection, round)?.ok_or_else(not_yours)?;
    if record.leave(claimant, response, now)? {
        connection
            .prepare_cached("UPDATE sterna_round SET response = ?3 WHERE flow = ?1 AND number = ?2")
            .and_then(|mut statement| {
                statement.execute((round.flow.as_bytes(), round.number, &response[..]))
            })
            .map_err(explain)?;
    }
    Ok(())
}

fn load(connection: &Connection, round: Round) -> Result<Option<RoundRecord>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT * FROM sterna_round WHERE flow = ?1 AND number = ?2")
        .map_err(explain)?;
    let mut rows = statement
        .query((round.flow.as_bytes(), round.number))
        .map_err(explain)?;
    let Some(row) = rows.next().map_err(explain)? else {
        return Ok(None);
    };
    let claimant = Claimant::from_bytes(array(row, "claimant")?);
    let entry = RoundEntry::new(array(row, "digest")?, claimant, Duration::ZERO);
    let mut record = RoundRecord::entered(&entry, time(row, "entered_at")?);
    record.lease_until = time(row, "lease_until")?;
    record.expires_at = time(row, "expires_at")?;
    record.response = maybe_bytes(row, "response")?;
    Ok(Some(record))
}

/// The least that makes a lease one that has not ended.
const MOMENT: Duration = Duration::from_millis(1);
