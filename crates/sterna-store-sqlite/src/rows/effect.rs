//! Effects that run at most once.

use std::time::Duration;

use bytes::Bytes;
use rusqlite::Connection;
use sterna_store::machine::{EffectRecord, not_yours};
use sterna_store::{Claimant, Effect, EffectClaim, Error, OnceClaim, UnixMillis};

use super::codec::{array, count, maybe_bytes, time};
use crate::error::explain;

pub(crate) fn claim(
    connection: &Connection,
    effect: &Effect,
    claim: &EffectClaim,
    now: UnixMillis,
) -> Result<OnceClaim, Error> {
    let record = load(connection, effect)?;
    if let Some(claimed) = record.and_then(|record| record.claim(claim.claimant, now)) {
        return Ok(claimed);
    }
    let record = EffectRecord::won(claim.clone(), now);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO sterna_effect
                 (flow, key, claimant, claimed_at, expires_at, answers)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .and_then(|mut statement| {
            statement.execute((
                effect.flow.as_bytes(),
                effect.key.as_str(),
                record.claimant.as_bytes(),
                record.claimed_at.get(),
                record.expires_at.get(),
                &record.answers[..],
            ))
        })
        .map_err(explain)?;
    Ok(OnceClaim::Won)
}

pub(crate) fn settle(
    connection: &Connection,
    effect: &Effect,
    claimant: Claimant,
    result: &Bytes,
    now: UnixMillis,
) -> Result<(), Error> {
    let record = load(connection, effect)?.ok_or_else(not_yours)?;
    if record.settle(claimant, result, now)? {
        connection
            .prepare_cached("UPDATE sterna_effect SET result = ?3 WHERE flow = ?1 AND key = ?2")
            .and_then(|mut statement| {
                let key = effect.key.as_str();
                statement.execute((effect.flow.as_bytes(), key, &result[..]))
            })
            .map_err(explain)?;
    }
    Ok(())
}

fn load(connection: &Connection, effect: &Effect) -> Result<Option<EffectRecord>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT * FROM sterna_effect WHERE flow = ?1 AND key = ?2")
        .map_err(explain)?;
    let mut rows = statement
        .query((effect.flow.as_bytes(), effect.key.as_str()))
        .map_err(explain)?;
    let Some(row) = rows.next().map_err(explain)? else {
        return Ok(None);
    };
    let claimant = Claimant::from_bytes(array(row, "claimant")?);
    let claimed_at = time(row, "claimed_at")?;
    let mut claim = EffectClaim::new(claimant, Duration::ZERO);
    claim.answers = maybe_bytes(row, "answers")?.unwrap_or_default();
    let mut record = EffectRecord::won(claim, claimed_at);
    record.expires_at = time(row, "expires_at")?;
    record.result = maybe_bytes(row, "result")?;
    Ok(Some(record))
}

/// Forgets effects and rounds whose time is up.
pub(crate) fn sweep(connection: &Connection, limit: u32, now: UnixMillis) -> Result<u32, Error> {
    let mut swept = 0;
    for table in ["sterna_effect", "sterna_round"] {
        let sql = format!(
            "DELETE FROM {table} WHERE rowid IN (
                SELECT rowid FROM {table} WHERE expires_at <= ?1 LIMIT ?2
             )"
        );
        swept += connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.execute((now.get(), i64::from(limit))))
            .map_err(explain)?;
    }
    Ok(count(swept))
}
