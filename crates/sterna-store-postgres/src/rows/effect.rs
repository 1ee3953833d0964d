//! Effects that run at most once.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::machine::{EffectRecord, not_yours};
use sterna_store::{Claimant, Effect, EffectClaim, Error, OnceClaim, UnixMillis};
use tokio_postgres::Row;

use super::codec::{array, count, maybe_bytes, time};
use super::{Operation, now};
use crate::error::Failure;
use crate::session::Session;
use crate::statement::Statement;

/// Claims the right to run an effect.
pub(crate) struct ClaimOnce {
    pub(crate) effect: Effect,
    pub(crate) claim: EffectClaim,
}

impl Operation for ClaimOnce {
    type Output = OnceClaim;

    async fn run(&self, session: &Session<'_>) -> Result<OnceClaim, Failure> {
        loop {
            // The unique key decides among those who come at once.
            if !session.run(self.insert()).await?.is_empty() {
                return Ok(OnceClaim::Won);
            }
            let rows = session.run(select(&self.effect)).await?;
            if let Some((record, now)) = record(&rows)?
                && let Some(claimed) = record.claim(self.claim.claimant, now)
            {
                return Ok(claimed);
            }
            // It expired or was swept between the two statements.
        }
    }
}

impl ClaimOnce {
    fn insert(&self) -> Statement<'_> {
        Statement::new(concat!(
            "INSERT INTO @effect AS effect
                 (flow, key, claimant, claimed_at, expires_at, answers)
             SELECT $1, $2, $3, now, now + $4, $5 FROM (SELECT ",
            now!(),
            " AS now) AS clock
             ON CONFLICT (flow, key) DO UPDATE
             SET claimant = excluded.claimant, claimed_at = excluded.claimed_at,
                 expires_at = excluded.expires_at, answers = excluded.answers, result = NULL
             WHERE effect.expires_at <= excluded.claimed_at
             RETURNING 1"
        ))
        .with(self.effect.flow.as_bytes().as_slice())
        .with(self.effect.key.as_str())
        .with(self.claim.claimant.as_bytes().as_slice())
        .with(UnixMillis::span(self.claim.ttl))
        .with(&self.claim.answers[..])
    }
}

/// Records the result of an effect.
pub(crate) struct SettleOnce {
    pub(crate) effect: Effect,
    pub(crate) claimant: Claimant,
    pub(crate) result: Bytes,
}

impl Operation for SettleOnce {
    type Output = ();

    async fn run(&self, session: &Session<'_>) -> Result<(), Failure> {
        loop {
            let update = Statement::new(concat!(
                "UPDATE @effect SET result = $4
                 WHERE flow = $1 AND key = $2 AND claimant = $3 AND result IS NULL
                     AND expires_at > ",
                now!(),
                " RETURNING 1"
            ))
            .with(self.effect.flow.as_bytes().as_slice())
            .with(self.effect.key.as_str())
            .with(self.claimant.as_bytes().as_slice())
            .with(&self.result[..]);
            if !session.run(update).await?.is_empty() {
                return Ok(());
            }
            let rows = session.run(select(&self.effect)).await?;
            let (record, now) = record(&rows)?.ok_or_else(not_yours)?;
            if !record.settle(self.claimant, &self.result, now)? {
                return Ok(());
            }
        }
    }
}

fn select(effect: &Effect) -> Statement<'_> {
    Statement::new(concat!(
        "SELECT effect.*, ",
        now!(),
        " AS now FROM @effect AS effect WHERE flow = $1 AND key = $2"
    ))
    .with(effect.flow.as_bytes().as_slice())
    .with(effect.key.as_str())
}

fn record(rows: &[Row]) -> Result<Option<(EffectRecord, UnixMillis)>, Error> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let claimant = Claimant::from_bytes(array(row, "claimant")?);
    let mut claim = EffectClaim::new(claimant, Duration::ZERO);
    claim.answers = maybe_bytes(row, "answers")?.unwrap_or_default();
    let mut record = EffectRecord::won(claim, time(row, "claimed_at")?);
    record.expires_at = time(row, "expires_at")?;
    record.result = maybe_bytes(row, "result")?;
    Ok(Some((record, time(row, "now")?)))
}

/// Forgets effects and rounds whose time is up.
pub(crate) struct SweepLedger {
    pub(crate) limit: u32,
}

impl Operation for SweepLedger {
    type Output = u32;

    async fn run(&self, session: &Session<'_>) -> Result<u32, Failure> {
        let effects = Statement::new(concat!(
            "DELETE FROM @effect WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM @effect WHERE expires_at <= ",
            now!(),
            " LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1"
        ));
        let rounds = Statement::new(concat!(
            "DELETE FROM @round WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM @round WHERE expires_at <= ",
            now!(),
            " LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1"
        ));
        let mut swept = 0;
        for statement in [effects, rounds] {
            let statement = statement.with(i64::from(self.limit));
            swept += session.run(statement).await?.len();
        }
        Ok(count(swept))
    }
}
