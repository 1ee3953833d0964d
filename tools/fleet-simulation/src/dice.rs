//! Choices that a seed repeats.

/// A generator whose numbers depend on its seed alone (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own, so that one party's choices do not depend on
    /// how often another has chosen.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.roll())
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high - low + 1)
    }

    /// An index of something that has `len` elements.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        let len = u64::try_from(len.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.roll() % len).unwrap_or(0)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.roll() % 100 < chance
    }
}
