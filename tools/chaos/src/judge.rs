//! What must be true of the world when everything has come to rest.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

use crate::client::{End, Kept};
use crate::effects::{Effect, What};
use crate::monkey::Fault;

/// Everything that is known after a run.
pub(crate) struct History<'a> {
    /// What became of every task that was acknowledged. That it has ended, and
    /// with the acknowledged answer, its client has seen to.
    pub(crate) kept: &'a [Kept],
    /// The lines of the file.
    pub(crate) effects: &'a [Effect],
    /// The rows of the table.
    pub(crate) rows: &'a BTreeSet<String>,
    pub(crate) faults: &'a [Fault],
}

impl History<'_> {
    /// # Errors
    ///
    /// The first thing that must not be.
    pub(crate) fn judge(&self) -> Result<()> {
        ensure!(!self.kept.is_empty(), "not one order came through");
        self.rows_are_lines()?;
        let (mut payments, mut plans) = (BTreeMap::new(), BTreeMap::new());
        let mut steps = BTreeMap::new();
        for effect in self.effects {
            match effect.what {
                What::Pay => payments
                    .entry(effect.order)
                    .or_insert_with(Vec::new)
                    .push(effect),
                What::Saw => {
                    let seen = plans.entry(effect.order).or_insert_with(BTreeSet::new);
                    seen.insert(&effect.value);
                }
                What::Step => steps
                    .entry(effect.order)
                    .or_insert_with(Vec::new)
                    .push(effect),
                What::Begin | What::End => {}
            }
        }
        for (order, steps) in &steps {
            self.went_on(*order, steps)?;
        }
        for (order, payments) in &payments {
            let times = payments.len();
            ensure!(times <= 1, "order {order} was paid {times} times");
        }
        for (order, plans) in &plans {
            ensure!(plans.len() == 1, "order {order} was seen with {plans:?}");
        }
        for kept @ Kept { number, end, .. } in self.kept {
            let paid = payments.get(number).and_then(|all| all.first());
            match (end, paid) {
                (End::Paid, None) => anyhow::bail!("order {number} was never paid, and says so"),
                (End::Paid, Some(payment)) => ensure!(
                    self.rows.contains(&payment.id),
                    "the payment of order {number} was acknowledged and is not in the table"
                ),
                (End::Cancelled, Some(_)) => {
                    anyhow::bail!("order {number} was cancelled and paid")
                }
                (End::Cancelled, None) => {}
                // It may have happened and may not: that is for whoever was hit to say.
                (End::Ambiguous, _) => self.was_hit(kept)?,
            }
        }
        Ok(())
    }

    /// The table has nothing that no process did.
    fn rows_are_lines(&self) -> Result<()> {
        let lines: BTreeSet<&String> = self.effects.iter().map(|effect| &effect.id).collect();
        for row in self.rows {
            ensure!(lines.contains(row), "the table has {row}, which nobody did");
        }
        Ok(())
    }

    /// A handler waits for the next step of a walk for a second at most, unless
    /// something broke: its process, the one that took it over, or the database.
    fn went_on(&self, order: u64, steps: &[&Effect]) -> Result<()> {
        // A handler that is started again sees its steps again: the first time counts.
        let mut seen: BTreeMap<u32, &Effect> = BTreeMap::new();
        for step in steps {
            let first = seen.entry(step.value.parse()?).or_insert(step);
            if step.at < first.at {
                *first = step;
            }
        }
        for (before, after) in seen.values().zip(seen.values().skip(1)) {
            let took = after.at.saturating_sub(before.at);
            if took <= LONGEST_STEP {
                continue;
            }
            let hit = self.faults.iter().any(|fault| {
                let processes = [before.process, after.process];
                let meant = fault
                    .process
                    .is_none_or(|process| processes.contains(&process));
                meant && fault.from <= after.at && before.at <= fault.to + RECOVERY
            });
            let step = &after.value;
            ensure!(
                hit,
                "step {step} of order {order} took {took} ms, and nothing happened to it"
            );
        }
        Ok(())
    }

    /// An effect is in doubt only if something broke while it ran: otherwise it
    /// happens exactly once.
    fn was_hit(&self, kept: &Kept) -> Result<()> {
        let order = kept.number;
        let mine = || self.effects.iter().filter(|effect| effect.order == order);
        let begun = mine().find(|effect| effect.what == What::Begin);
        let ended = mine().find(|effect| effect.what == What::End);
        let (by, from, to) = match begun {
            Some(begun) => (
                Some(begun.process),
                begun.at,
                ended.map_or(begun.at, |ended| ended.at),
            ),
            // Claimed, and killed before the first line of it: by whom, nobody knows.
            None => (None, kept.from, kept.to),
        };
        let hit = self.faults.iter().any(|fault| {
            let meant = fault.process.is_none() || by.is_none() || fault.process == by;
            meant && fault.from <= to + REPORTING && from <= fault.to + REPORTING
        });
        ensure!(hit, "order {order} is in doubt, and nothing happened to it");
        Ok(())
    }
}

/// What a step may take, in milliseconds: a commit, on a machine that is busy.
const LONGEST_STEP: u64 = 1000;

/// For how long a fault may delay what comes after it: a lease, and a look for
/// work.
const RECOVERY: u64 = 5000;

/// What claiming and reporting an effect may take, in milliseconds: a commit,
/// and a database that has just come back.
const REPORTING: u64 = 2000;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Judges a history, one thing per line: `pay 1 at 100`, `pay 1 unacknowledged`,
    /// `saw 1 plan`, `kept 1 paid`, `kill 7 at 100`, `row x`. Every order takes
    /// from 10000 to 11000.
    #[track_caller]
    fn check(history: &str, expected: Expect) {
        let (mut kept, mut effects, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        let mut rows = BTreeSet::new();
        for (at, line) in history.lines().enumerate() {
            let words: Vec<_> = line.split_whitespace().collect();
            let number = |at: usize| words[at].parse::<u64>().unwrap();
            let effect = |what, value: &str, at_millis| Effect {
                id: format!("e{at}"),
                what,
                order: number(1),
                value: value.to_owned(),
                process: 7,
                at: at_millis,
            };
            match words[..] {
                [] => continue,
                ["kept", _, end] => {
                    let end = match end {
                        "paid" => End::Paid,
                        "cancelled" => End::Cancelled,
                        _ => End::Ambiguous,
                    };
                    kept.push(Kept {
                        number: number(1),
                        end,
                        from: 10_000,
                        to: 11_000,
                    });
                    continue;
                }
                ["kill", _, "at", _] => {
                    let process = Some(u32::try_from(number(1)).unwrap());
                    let (from, to) = (number(3), number(3));
                    faults.push(Fault { process, from, to });
                    continue;
                }
                ["row", id] => {
                    rows.insert(id.to_owned());
                    continue;
                }
                ["step", _, step, "at", _] => {
                    effects.push(effect(What::Step, step, number(4)));
                    continue;
                }
                ["saw", _, plan] => effects.push(effect(What::Saw, plan, 0)),
                ["begin", _, "at", _] => effects.push(effect(What::Begin, "-", number(3))),
                ["end", _, "at", _] => effects.push(effect(What::End, "-", number(3))),
                ["pay", _, "unacknowledged"] => {
                    effects.push(effect(What::Pay, "-", 0));
                    continue;
                }
                ["pay", _] => effects.push(effect(What::Pay, "-", 0)),
                _ => panic!("{line}"),
            }
            rows.insert(format!("e{at}"));
        }
        let history = History {
            kept: &kept,
            effects: &effects,
            rows: &rows,
            faults: &faults,
        };
        let verdict = history
            .judge()
            .map_or_else(|error| error.to_string(), |()| "good".into());
        expected.assert_eq(&verdict);
    }

    #[test]
    fn a_history_without_fault_is_good() {
        check(
            "saw 1 a\n begin 1 at 10\n pay 1\n end 1 at 50\n saw 1 a\n kept 1 paid\n saw 2 b\n kept 2 cancelled",
            expect!["good"],
        );
    }

    #[test]
    fn an_effect_that_ran_twice_is_found() {
        check(
            "pay 1\n pay 1\n kept 1 paid",
            expect!["order 1 was paid 2 times"],
        );
        // Also one that nobody was ever told of.
        check(
            "pay 1\n pay 1\n pay 2\n kept 2 paid",
            expect!["order 1 was paid 2 times"],
        );
    }

    #[test]
    fn an_effect_that_was_reported_and_never_happened_is_found() {
        check(
            "kept 1 paid",
            expect!["order 1 was never paid, and says so"],
        );
    }

    #[test]
    fn a_key_with_two_values_is_found() {
        check(
            "saw 1 a\n saw 1 b\n pay 1\n kept 1 paid",
            expect![[r#"order 1 was seen with {"a", "b"}"#]],
        );
    }

    #[test]
    fn a_database_that_forgets_or_invents_rows_is_found() {
        check(
            "pay 1 unacknowledged\n kept 1 paid",
            expect!["the payment of order 1 was acknowledged and is not in the table"],
        );
        check(
            "pay 1\n row x\n kept 1 paid",
            expect!["the table has x, which nobody did"],
        );
    }

    #[test]
    fn an_effect_after_a_cancel_is_found() {
        check(
            "pay 1\n kept 1 cancelled",
            expect!["order 1 was cancelled and paid"],
        );
    }

    #[test]
    fn doubt_needs_a_reason() {
        let doubt = "begin 1 at 10000\n pay 1\n end 1 at 10040\n kept 1 ambiguous";
        check(
            doubt,
            expect!["order 1 is in doubt, and nothing happened to it"],
        );
        check(&format!("{doubt}\n kill 7 at 10020"), expect!["good"]);
        // Somebody else, or at another time.
        for other in ["kill 8 at 10020", "kill 7 at 5000", "kill 7 at 20000"] {
            check(
                &format!("{doubt}\n {other}"),
                expect!["order 1 is in doubt, and nothing happened to it"],
            );
        }
    }

    #[test]
    fn doubt_about_what_never_began_needs_a_reason_too() {
        let doubt = "kept 1 ambiguous";
        check(
            doubt,
            expect!["order 1 is in doubt, and nothing happened to it"],
        );
        // Whoever it was, it was in its time.
        check(&format!("{doubt}\n kill 8 at 10500"), expect!["good"]);
        check(
            &format!("{doubt}\n kill 8 at 5000"),
            expect!["order 1 is in doubt, and nothing happened to it"],
        );
    }

    #[test]
    fn a_step_that_takes_long_needs_a_reason() {
        let paid = "pay 1\n kept 1 paid";
        let quick = "step 1 0 at 10000\n step 1 1 at 10020\n step 1 2 at 11020";
        check(&format!("{paid}\n {quick}"), expect!["good"]);
        // When it goes on after the answer, it sees the same steps again.
        let again = "step 1 0 at 20000\n step 1 1 at 20001\n step 1 2 at 20002";
        check(&format!("{paid}\n {quick}\n {again}"), expect!["good"]);
        let slow = "step 1 0 at 10000\n step 1 1 at 11001";
        check(
            &format!("{paid}\n {slow}"),
            expect!["step 1 of order 1 took 1001 ms, and nothing happened to it"],
        );
        check(
            &format!("{paid}\n {slow}\n kill 7 at 9000"),
            expect!["good"],
        );
        for other in ["kill 8 at 10500", "kill 7 at 4000", "kill 7 at 12000"] {
            check(
                &format!("{paid}\n {slow}\n {other}"),
                expect!["step 1 of order 1 took 1001 ms, and nothing happened to it"],
            );
        }
    }

    #[test]
    fn a_run_in_which_nothing_was_promised_proves_nothing() {
        check("pay 1", expect!["not one order came through"]);
    }
}
