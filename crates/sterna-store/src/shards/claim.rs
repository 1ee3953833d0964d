//! Claims that go round the shards.

use super::set::{Shards, together};
use super::shard::WatchedShard;
use crate::machine::turns;
use crate::{Claim, Claimed, Error, Owner};

/// One shard in a claim.
struct ClaimedShard<'a> {
    shard: &'a WatchedShard,
    /// The owner that had the last turn on it in this claim.
    last: Option<Owner>,
}

impl Shards {
    /// Asks every shard for a part of the limit, and those that have more for the
    /// parts that others did not need.
    ///
    /// A claim fails only if no shard answers. Shards that did not answer before
    /// are asked whether they do, and take part in the next claim.
    pub(super) async fn claim_around(&self, claim: Claim) -> Result<Vec<Claimed>, Error> {
        let limit = usize::try_from(claim.limit).unwrap_or(usize::MAX);
        let (answering, silent): (Vec<_>, Vec<_>) =
            self.around().partition(|shard| shard.answers());
        let due = silent.iter().filter(|shard| shard.is_due());
        let looked = together(due.map(|shard| shard.look())).await;
        let mut failed = looked.into_iter().filter_map(Result::err).last();
        let mut wanted: Vec<_> = answering
            .into_iter()
            .chain(silent.into_iter().filter(|shard| shard.answers()))
            .map(|shard| ClaimedShard { shard, last: None })
            .collect();
        let mut answered = false;
        let mut claimed: Vec<Claimed> = Vec::new();
        while claimed.len() < limit && !wanted.is_empty() {
            let shares = shares(limit - claimed.len(), wanted.len());
            let asked = wanted.into_iter().zip(shares);
            let results = together(asked.map(|(shard, share)| take(shard, &claim, share))).await;
            wanted = Vec::new();
            for result in results {
                match result {
                    Ok((shard, taken)) => {
                        answered = true;
                        claimed.extend(taken);
                        wanted.extend(shard);
                    }
                    Err(error) => failed = Some(error),
                }
            }
        }
        match failed {
            Some(error) if !answered => Err(error),
            None if !answered && limit > 0 => Err(self.all_silent()),
            _ => {
                let claimed = claimed.into_iter().map(|one| (one.owner, one));
                let in_turn = turns(claimed, claim.after, claim.limit);
                Ok(in_turn.into_iter().map(|(_, claimed)| claimed).collect())
            }
        }
    }
}

/// Claims up to `share` tasks of one shard. Returns the shard again if it may have
/// more.
async fn take<'a>(
    mut claimed: ClaimedShard<'a>,
    claim: &Claim,
    share: usize,
) -> Result<(Option<ClaimedShard<'a>>, Vec<Claimed>), Error> {
    if share == 0 {
        return Ok((Some(claimed), Vec::new()));
    }
    let shard = claimed.shard;
    let (after, own) = shard.turn(claimed.last.or(claim.after));
    let mut part = claim.clone();
    part.limit = u32::try_from(share).unwrap_or(u32::MAX);
    part.after = after;
    // Half a lease: then a task that another shard gave can still be renewed.
    let patience = claim.length / 2;
    let taken = shard.call_for(patience, |store| store.claim(part)).await?;
    claimed.last = taken.last().map(|taken| taken.owner).or(claimed.last);
    shard.had_turn(own, claimed.last);
    let has_more = taken.len() >= share;
    Ok((has_more.then_some(claimed), taken))
}

/// `total` in `count` parts, as even as can be.
fn shares(total: usize, count: usize) -> impl Iterator<Item = usize> {
    let (each, rest) = (total / count, total % count);
    (0..count).map(move |index| each + usize::from(index < rest))
}
