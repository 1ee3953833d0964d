//! A small generator: one seed, one program, one schedule.

#[derive(Clone)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit as u64)).unwrap()
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        match items.len() {
            0 => None,
            len => Some(&items[self.below(len)]),
        }
    }
}

pub(super) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One value out of two, in which their order counts.
pub(super) const fn combine(a: u64, b: u64) -> u64 {
    mix(a.rotate_left(17) ^ mix(b.wrapping_add(0x1234_5678_9abc_def1)))
}
