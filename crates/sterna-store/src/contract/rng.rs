//! Chance, the same for the same seed.

use super::fixture::{CALLER, MINUTE, STRANGER, bytes, entry, flow, id, name, question};
use super::history::{LEASE, Operation, TTL};
use crate::{Claim, Commit, Lease, NewTask, Note, Outcome, Owner, Passivation, Question, Targets};

/// A source of operations that is the same for the same seed.
#[derive(Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        // Splitmix64: small, and good enough to pick cases.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        let sides = u64::try_from(from.len()).ok().filter(|sides| *sides > 0)?;
        let index = usize::try_from(self.roll(sides)).ok()?;
        from.get(index).cloned()
    }

    fn small(&mut self, sides: u8) -> u8 {
        u8::try_from(self.roll(sides.into())).unwrap_or(0)
    }

    fn caller(&mut self) -> Owner {
        match self.roll(8) {
            0 => STRANGER,
            _ => CALLER,
        }
    }

    fn keys(&mut self) -> Vec<&'static str> {
        ["a", "b", "c"]
            .into_iter()
            .filter(|_| self.roll(2) == 0)
            .collect()
    }

    fn commit(&mut self) -> Commit {
        let mut commit = Commit::default();
        for key in self.keys() {
            let value = self.small(2).to_string();
            commit.entries.push(entry(key, &value));
        }
        commit.taken = self.keys().into_iter().map(name).collect();
        if self.roll(2) == 0 {
            let again = self.roll(6) == 0;
            let ask = |key| {
                if again {
                    Question::new(name(key), [2; 16], bytes("again?"))
                } else {
                    question(key)
                }
            };
            commit.open = Some(self.keys().into_iter().map(ask).collect());
        }
        if self.roll(4) == 0 {
            commit.note = Some(Note::new(&format!("note {}", self.small(3))));
        }
        commit
    }

    /// The next operation, on one of the `leases` or a few tasks.
    pub(super) fn operation(&mut self, leases: &[Lease]) -> Operation {
        let recent = &leases[leases.len().saturating_sub(6)..];
        if let Some(lease) = self.pick(recent)
            && self.roll(2) == 0
        {
            return self.under(lease);
        }
        let task = self.small(4);
        match self.roll(18) {
            // Seven divides none of the durations, so no two clocks can
            // disagree about which came first.
            0..=2 => Operation::Advance(MINUTE * 7 * u32::from(self.small(12))),
            3..=4 => Operation::Answer(self.caller(), task, self.keys()),
            5 => Operation::Cancel(self.caller(), task),
            6..=8 => Operation::Claim(self.claim()),
            9 => Operation::ClaimOnce(self.small(2), self.small(4)),
            10 => Operation::SettleOnce(self.small(2), self.small(4)),
            11 => Operation::EnterRound(self.small(2), self.small(4)),
            12 => Operation::CompleteRound(self.small(2), self.small(4)),
            13 => Operation::PutBlob(self.small(2), self.small(2)),
            14 => match self.roll(3) {
                0 => Operation::ReadBlob(self.small(2)),
                1 => Operation::List(self.caller()),
                _ => Operation::Sweep,
            },
            15 => Operation::Read(self.caller(), task),
            _ => Operation::Create(self.task(task)),
        }
    }

    fn under(&mut self, lease: Lease) -> Operation {
        match self.roll(8) {
            0..=2 => Operation::Append(lease, self.commit()),
            3..=4 => {
                let rest = match self.roll(4) {
                    0 => Passivation::For(MINUTE * 30),
                    1 => Passivation::HandOver,
                    2 => Passivation::Retry(MINUTE * 10),
                    _ => Passivation::ForAnswers,
                };
                Operation::Passivate(lease, self.commit(), rest)
            }
            5 => Operation::Renew(lease),
            6 => Operation::Finish(
                lease,
                match self.roll(3) {
                    0 => Outcome::Cancelled,
                    1 => Outcome::Completed(bytes("done")),
                    _ => Outcome::Failed(bytes("broken")),
                },
            ),
            _ => Operation::Answer(CALLER, lease.task.as_bytes()[0], self.keys()),
        }
    }

    fn claim(&mut self) -> Claim {
        let mut claim = Claim::new(name("worker"), LEASE);
        claim.limit = 100;
        if self.roll(3) == 0 {
            claim.targets = Targets::Only(vec![name("odd")]);
        }
        claim
    }

    fn task(&mut self, number: u8) -> NewTask {
        let target = if number % 2 == 1 { "odd" } else { "even" };
        let mut task = NewTask::new(
            id(number),
            self.caller(),
            flow(number),
            name(target),
            bytes("request"),
        );
        if self.roll(2) == 0 {
            task.ttl = Some(TTL);
        }
        if self.roll(3) == 0 {
            task.journal = vec![entry("before", "0")];
        }
        task
    }
}
