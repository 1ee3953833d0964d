//! The shard of an id.

use std::str::FromStr;

use crate::{Error, ErrorKind, FlowId, TaskId};

/// The rings of a set of shards: how many shards each of its versions has.
///
/// Version 1 is the first number of shards that the set had. Each later version
/// has more: the same shards in the same order, and new ones behind them. An id
/// says in which version it was made, and stays on its shard when the set grows.
/// An id that says nothing is of version 1: one that was made before there were
/// shards, and every id of a blob.
///
/// ```
/// use sterna_store::Rings;
///
/// // Two shards at first, four since.
/// let rings = Rings::new(&[2, 4])?;
/// assert_eq!(rings.shards(), 4);
/// # Ok::<(), sterna_store::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rings {
    sizes: Vec<usize>,
    /// Index of the ring that new ids are made in.
    newest: usize,
}

impl Rings {
    /// The rings with these numbers of shards, oldest first.
    ///
    /// # Errors
    ///
    /// `Misuse` unless there are one to sixteen numbers and each is larger than
    /// the one before.
    pub fn new(sizes: &[usize]) -> Result<Self, Error> {
        let grow = sizes.windows(2).all(|pair| pair[0] < pair[1]);
        if !(1..=MOST_RINGS).contains(&sizes.len()) || sizes[0] == 0 || !grow {
            return Err(Error::new(
                ErrorKind::Misuse,
                format!(
                    "the rings {sizes:?} are not numbers of shards that grow, such as [2, 4]; \
                     there are one to {MOST_RINGS} of them"
                ),
            ));
        }
        Ok(Self {
            sizes: sizes.to_vec(),
            newest: sizes.len() - 1,
        })
    }

    /// Makes no new ids in the last ring, and finds those that are in it.
    ///
    /// A fleet grows in two rollouts: in the first all instances learn the new
    /// ring, in the second they make ids in it. An instance refuses ids of a ring
    /// that it does not know.
    #[must_use]
    pub fn announced(mut self) -> Self {
        self.newest = self.sizes.len().saturating_sub(2);
        self
    }

    /// Number of shards.
    pub fn shards(&self) -> usize {
        self.sizes.last().copied().unwrap_or_default()
    }

    /// Version in which the shard number `index` was added, counted from 1.
    pub(super) fn joined(&self, index: usize) -> usize {
        let older = self.sizes.iter().take_while(|size| **size <= index);
        older.count() + 1
    }

    /// The numbers of shards up to and with the version `ring`.
    pub(super) fn up_to(&self, ring: usize) -> &[usize] {
        &self.sizes[..ring.min(self.sizes.len())]
    }

    /// Number of shards over which new tasks are spread.
    pub(super) fn spread(&self) -> usize {
        self.sizes[self.newest]
    }

    /// Writes the newest ring into the random bytes of an id.
    pub(super) fn mark(&self, mut id: [u8; 16]) -> [u8; 16] {
        if self.newest == 0 {
            if ring_in(&id).is_some() {
                // Random bytes that look marked by chance.
                id[15] ^= 1;
            }
            return id;
        }
        let ring = u32::try_from(self.newest).unwrap_or(u32::MAX);
        let mark = mark_of(&id, ring).to_be_bytes();
        id[12..].copy_from_slice(&mark);
        id
    }

    /// The shard of a task.
    pub(super) fn of_task(&self, task: TaskId) -> Result<usize, Error> {
        self.of_marked(task.as_bytes())
    }

    /// The shard of a flow.
    pub(super) fn of_flow(&self, flow: FlowId) -> Result<usize, Error> {
        self.of_marked(flow.as_bytes())
    }

    /// The shard of a blob. Its id is often a digest of something, so there is no
    /// room for a mark.
    pub(super) fn of_blob(&self, id: &[u8; 16]) -> usize {
        slot(id, self.sizes[0])
    }

    fn of_marked(&self, id: &[u8; 16]) -> Result<usize, Error> {
        let ring = ring_in(id).unwrap_or_default();
        match self.sizes.get(ring) {
            Some(size) => Ok(slot(id, *size)),
            None => Err(Error::new(
                ErrorKind::Incompatible,
                format!(
                    "an id was made in ring {} of the shards, and this instance knows {}",
                    ring + 1,
                    self.sizes.len()
                ),
            )
            .with_code("MR0709")),
        }
    }
}

impl FromStr for Rings {
    type Err = Error;

    /// Reads numbers of shards as an operator writes them: `2,4` for two shards at
    /// first and four since, `2,+4` for a ring that is
    /// [announced](Self::announced).
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let text = format!("`{text}` is no list of numbers of shards such as 2,4 or 2,+4");
            Error::new(ErrorKind::Misuse, text)
        };
        let mut sizes: Vec<_> = text.split(',').collect();
        let last = sizes.last_mut().ok_or_else(wrong)?;
        let announced = last
            .strip_prefix('+')
            .inspect(|size| *last = size)
            .is_some();
        let sizes = sizes.iter().map(|size| match size.starts_with('+') {
            true => Err(wrong()),
            false => size.parse().map_err(|_| wrong()),
        });
        let rings = Self::new(&sizes.collect::<Result<Vec<_>, _>>()?)?;
        if announced && rings.sizes.len() == 1 {
            return Err(wrong());
        }
        Ok(match announced {
            true => rings.announced(),
            false => rings,
        })
    }
}

/// The shard of an id among `size`. Ids are random or digests: the bytes need
/// not be mixed. Where an id was written it has to be found: this never changes.
fn slot(id: &[u8; 16], size: usize) -> usize {
    let number = id.first_chunk().copied().map_or(0, u64::from_be_bytes);
    let slot = number % u64::try_from(size.max(1)).unwrap_or(u64::MAX);
    usize::try_from(slot).unwrap_or_default()
}

/// Index of the ring that an id is marked with.
fn ring_in(id: &[u8; 16]) -> Option<usize> {
    let mark = id.last_chunk().copied().map(u32::from_be_bytes)?;
    let ring = mark >> CHECK_BITS;
    let marked = ring > 0 && mark == mark_of(id, ring);
    marked.then(|| usize::try_from(ring).ok()).flatten()
}

/// The last four bytes of an id of `ring`: four bits of its index and a check
/// of the other twelve bytes, by which marked ids are told from others.
fn mark_of(id: &[u8; 16], ring: u32) -> u32 {
    let check = id[..12].iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let check = u32::try_from((check ^ check >> 32) & 0x0fff_ffff).unwrap_or_default();
    ring << CHECK_BITS | check
}

/// One of 268 million ids that no ring marked is taken for a marked one.
const CHECK_BITS: u32 = 28;

/// As many as four bits can tell apart.
const MOST_RINGS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that look random and are the same in every run.
    fn ids() -> impl Iterator<Item = [u8; 16]> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u128;
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(0xda94_2042_e4dd_58b5_u128 << 64 | 0x2545_f491_4f6c_dd1d);
            state = state.wrapping_add(0x1405_7b7e_f767_814f);
            (state ^ state >> 61).to_be_bytes()
        })
    }

    #[test]
    fn an_id_stays_on_its_shard_however_often_the_set_grows() {
        for steps in 1..=5_usize {
            let sizes: Vec<_> = (0..steps).map(|step| 3 + 2 * step).collect();
            let rings = Rings::new(&sizes).unwrap();
            for id in ids().take(2000) {
                let task = TaskId::from_bytes(rings.mark(id));
                let home = rings.of_task(task).unwrap();
                let mut grown = sizes.clone();
                for more in 1..4 {
                    grown.push(sizes[steps - 1] + 5 * more);
                    let grown = Rings::new(&grown).unwrap();
                    assert_eq!(grown.of_task(task).unwrap(), home);
                    assert_eq!(grown.clone().announced().of_task(task).unwrap(), home);
                }
            }
        }
    }

    #[test]
    fn new_ids_are_spread_evenly_over_the_newest_ring() {
        let rings = Rings::new(&[1, 4]).unwrap();
        let mut counts = [0; 4];
        for id in ids().take(8000) {
            let flow = FlowId::from_bytes(rings.mark(id));
            counts[rings.of_flow(flow).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|count| (1800..2200).contains(count)),
            "{counts:?}"
        );
        // Those that were made before are where they were.
        assert!(
            ids()
                .take(8000)
                .all(|id| rings.of_task(TaskId::from_bytes(id)).unwrap() == 0)
        );
    }

    #[test]
    fn ids_of_a_ring_that_is_announced_are_found_and_not_made() {
        let (old, new) = (Rings::new(&[2]).unwrap(), Rings::new(&[2, 4]).unwrap());
        let announced = new.clone().announced();
        for id in ids().take(500) {
            assert_eq!(announced.mark(id), old.mark(id));
            let made = TaskId::from_bytes(new.mark(id));
            assert_eq!(announced.of_task(made).unwrap(), new.of_task(made).unwrap());
            let refused = old.of_task(made).unwrap_err();
            assert_eq!(refused.code(), Some("MR0709"));
        }
    }

    #[test]
    fn random_bytes_that_look_marked_are_changed_before_they_are_used() {
        let one = Rings::new(&[1]).unwrap();
        let mut id = [7; 16];
        let mark = mark_of(&id, 3).to_be_bytes();
        id[12..].copy_from_slice(&mark);
        assert!(one.of_task(TaskId::from_bytes(id)).is_err());
        assert_eq!(one.of_task(TaskId::from_bytes(one.mark(id))).unwrap(), 0);
    }

    #[test]
    fn places_never_change() {
        let rings = Rings::new(&[3, 8]).unwrap();
        let places: Vec<_> = ids()
            .take(4)
            .map(|id| {
                let new = TaskId::from_bytes(rings.mark(id));
                (
                    rings.of_blob(&id),
                    rings.of_task(new).unwrap(),
                    new.to_string(),
                )
            })
            .collect();
        let places = format!("{places:#?}");
        expect_test::expect![[r#"
            [
                (
                    2,
                    7,
                    "0f75ebd4b95e2bdf74a53aa414499054",
                ),
                (
                    0,
                    0,
                    "9babf576cbe16e782329ef951d09c745",
                ),
                (
                    0,
                    3,
                    "4229f24d360f9dfbda17add21440bae4",
                ),
                (
                    1,
                    4,
                    "0e14ddd91a170b54d889e8ec10dabc4c",
                ),
            ]"#]]
        .assert_eq(&places);
    }

    #[test]
    fn rings_are_read_as_an_operator_writes_them() {
        let rings = Rings::new(&[2, 4]).unwrap();
        assert_eq!("2,4".parse::<Rings>().unwrap(), rings);
        assert_eq!("2,+4".parse::<Rings>().unwrap(), rings.announced());
        for bad in ["", "+2", "2,", "4,2", "2,+4,8,+9", "two"] {
            assert!(bad.parse::<Rings>().is_err(), "{bad}");
        }
    }

    #[test]
    fn rings_only_grow() {
        for bad in [&[][..], &[0], &[2, 2], &[4, 2]] {
            assert!(Rings::new(bad).is_err(), "{bad:?}");
        }
        let sixteen: Vec<_> = (1..=16).collect();
        assert_eq!(Rings::new(&sixteen).unwrap().shards(), 16);
        assert!(Rings::new(&(1..=17).collect::<Vec<_>>()).is_err());
    }
}
