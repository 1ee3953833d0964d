//! Rounds that are answered once.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::machine::{RoundRecord, not_yours};
use sterna_store::{Claimant, Error, Round, RoundClaim, RoundEntry, UnixMillis};
use tokio_postgres::Row;

use super::codec::{array, maybe_bytes, time};
use super::{Operation, now};
use crate::error::Failure;
use crate::session::Session;
use crate::statement::Statement;

/// Asks to answer a round.
pub(crate) struct EnterRound {
    pub(crate) round: Round,
    pub(crate) entry: RoundEntry,
}

impl Operation for EnterRound {
    type Output = RoundClaim;

    async fn run(&self, session: &Session<'_>) -> Result<RoundClaim, Failure> {
        loop {
            // The unique key decides among those who come at once.
            if !session.run(self.insert()).await?.is_empty() {
                return Ok(RoundClaim::Yours);
            }
            let rows = session.begin([lock(&self.round)]).await?;
            let Some((mut record, now)) = record(&rows[0])? else {
                // It was swept between the two statements.
                session.commit([]).await?;
                continue;
            };
            let entered = record.enter(&self.entry, now);
            let write = (entered == RoundClaim::Yours).then(|| write(&self.round, &record));
            session.commit(write).await?;
            return Ok(entered);
        }
    }
}

impl EnterRound {
    fn insert(&self) -> Statement<'_> {
        Statement::new(concat!(
            "INSERT INTO @round
             SELECT $1, $2, $3, $4, now, now + $5, now + $6, NULL FROM (SELECT ",
            now!(),
            " AS now) AS clock
             ON CONFLICT (flow, number) DO NOTHING RETURNING 1"
        ))
        .with(self.round.flow.as_bytes().as_slice())
        .with(i64::from(self.round.number))
        .with(self.entry.digest.as_slice())
        .with(self.entry.claimant.as_bytes().as_slice())
        .with(UnixMillis::span(self.entry.length))
        .with(UnixMillis::span(self.entry.ttl))
    }
}

fn write<'a>(round: &'a Round, record: &'a RoundRecord) -> Statement<'a> {
    Statement::new(
        "UPDATE @round
         SET digest = $3, claimant = $4, entered_at = $5, lease_until = $6, expires_at = $7,
             response = NULL
         WHERE flow = $1 AND number = $2",
    )
    .with(round.flow.as_bytes().as_slice())
    .with(i64::from(round.number))
    .with(record.digest.as_slice())
    .with(record.claimant.as_bytes().as_slice())
    .with(record.entered_at.get())
    .with(record.lease_until.get())
    .with(record.expires_at.get())
}

/// Stores the response of a round.
pub(crate) struct CompleteRound {
    pub(crate) round: Round,
    pub(crate) claimant: Claimant,
    pub(crate) response: Bytes,
}

impl Operation for CompleteRound {
    type Output = ();

    async fn run(&self, session: &Session<'_>) -> Result<(), Failure> {
        let rows = session.begin([lock(&self.round)]).await?;
        let (record, now) = record(&rows[0])?.ok_or_else(not_yours)?;
        let fresh = record.leave(self.claimant, &self.response, now)?;
        let write = fresh.then(|| {
            Statement::new("UPDATE @round SET response = $3 WHERE flow = $1 AND number = $2")
                .with(self.round.flow.as_bytes().as_slice())
                .with(i64::from(self.round.number))
                .with(&self.response[..])
        });
        session.commit(write).await?;
        Ok(())
    }
}

fn lock(round: &Round) -> Statement<'_> {
    Statement::new(concat!(
        "SELECT round.*, ",
        now!(),
        " AS now FROM @round AS round WHERE flow = $1 AND number = $2 FOR UPDATE"
    ))
    .with(round.flow.as_bytes().as_slice())
    .with(i64::from(round.number))
}

fn record(rows: &[Row]) -> Result<Option<(RoundRecord, UnixMillis)>, Error> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let claimant = Claimant::from_bytes(array(row, "claimant")?);
    let entry = RoundEntry::new(array(row, "digest")?, claimant, Duration::ZERO);
    let mut record = RoundRecord::entered(&entry, time(row, "entered_at")?);
    record.lease_until = time(row, "lease_until")?;
    record.expires_at = time(row, "expires_at")?;
    record.response = maybe_bytes(row, "response")?;
    Ok(Some((record, time(row, "now")?)))
}
