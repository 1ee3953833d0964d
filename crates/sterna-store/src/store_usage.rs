//! The number of rows of a store, and how long they are kept.

use std::collections::BTreeMap;

use crate::{Status, UnixMillis};

/// Number of rows of every kind in a store, and the time until which they are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreUsage {
    /// Tasks by status. A status without tasks is left out.
    pub tasks: BTreeMap<Status, KeptRows>,
    /// Number of owners with a task that has not ended. On several shards, an owner
    /// counts on each that holds one.
    pub owners: u64,
    /// Largest number of tasks of one owner that have not ended, which the quota of
    /// an owner limits. On several shards, the sum of the largest numbers: no owner
    /// has more.
    pub most_per_owner: u64,
    /// Effects in the ledger.
    pub effects: KeptRows,
    /// Effects that were claimed and never reported.
    pub unreported_effects: u64,
    /// Rounds in the ledger.
    pub rounds: KeptRows,
    /// Blobs: spilled states, values by reference, idempotency keys.
    pub blobs: KeptRows,
    /// Bytes on the disk, if the store is on one.
    pub disk_bytes: Option<u64>,
    /// Time of the store's clock.
    pub now: UnixMillis,
}

impl StoreUsage {
    /// Usage of an empty store.
    pub fn empty(now: UnixMillis) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// Adds the usage of another shard.
    pub fn add(&mut self, other: &Self) {
        for (status, rows) in &other.tasks {
            self.tasks.entry(*status).or_default().add(*rows);
        }
        self.owners += other.owners;
        self.most_per_owner += other.most_per_owner;
        self.effects.add(other.effects);
        self.unreported_effects += other.unreported_effects;
        self.rounds.add(other.rounds);
        self.blobs.add(other.blobs);
        self.disk_bytes = match (self.disk_bytes, other.disk_bytes) {
            (Some(mine), Some(other)) => Some(mine + other),
            (mine, other) => mine.or(other),
        };
        self.now = self.now.max(other.now);
    }
}

/// Number of rows of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptRows {
    /// All of them.
    pub rows: u64,
    /// Rows whose time is up and that no sweep has deleted yet.
    pub expired: u64,
    /// Time at which the last of them expires; `None` if there are none, or if one
    /// of them never does.
    pub until: Option<UnixMillis>,
    /// Number of rows that never expire.
    pub unlimited: u64,
}

impl KeptRows {
    /// `rows` rows, of which `expired` are expired and `unlimited` never expire, and
    /// the latest end of the others.
    pub fn new(rows: u64, expired: u64, unlimited: u64, until: Option<UnixMillis>) -> Self {
        Self {
            rows,
            expired,
            unlimited,
            until: until.filter(|_| unlimited == 0),
        }
    }

    /// Rows that expire at `ends`; `None` is a row that never does.
    pub(crate) fn of(ends: impl IntoIterator<Item = Option<UnixMillis>>, now: UnixMillis) -> Self {
        let mut kept = Self::default();
        for end in ends {
            let expired = u64::from(end.is_some_and(|end| end <= now));
            kept.add(Self::new(1, expired, u64::from(end.is_none()), end));
        }
        kept
    }

    fn add(&mut self, other: Self) {
        *self = Self::new(
            self.rows + other.rows,
            self.expired + other.expired,
            self.unlimited + other.unlimited,
            self.until.max(other.until),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> UnixMillis {
        UnixMillis::new(millis)
    }

    #[test]
    fn rows_are_kept_until_the_last_of_them_expires() {
        let ends = [Some(at(5)), Some(at(20)), Some(at(9))];
        let kept = KeptRows::of(ends, at(9));
        assert_eq!(kept, KeptRows::new(3, 2, 0, Some(at(20))));
        let kept = KeptRows::of([Some(at(20)), None, Some(at(30))], at(9));
        assert_eq!((kept.until, kept.unlimited), (None, 1));
    }

    #[test]
    fn shards_add_up() {
        let mut all = StoreUsage::empty(at(1));
        let mut one = StoreUsage::empty(at(7));
        one.tasks
            .insert(Status::Working, KeptRows::new(2, 0, 0, Some(at(9))));
        (one.owners, one.most_per_owner, one.disk_bytes) = (1, 2, Some(100));
        all.add(&one);
        all.add(&one);
        assert_eq!(
            all.tasks[&Status::Working],
            KeptRows::new(4, 0, 0, Some(at(9)))
        );
        assert_eq!((all.owners, all.most_per_owner), (2, 4));
        assert_eq!((all.disk_bytes, all.now), (Some(200), at(7)));
    }
}
