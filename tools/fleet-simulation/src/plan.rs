//! Everything that a seed decides before the first request.

use std::time::Duration;

use crate::dice::Dice;

/// A fleet, its clients and what is going to happen to them.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) instances: usize,
    pub(crate) users: usize,
    pub(crate) orders: u64,
    /// By how many milliseconds each instance's clock is ahead.
    pub(crate) skews: Vec<i64>,
    /// The instance whose clock is further off than is allowed.
    pub(crate) beyond: Option<usize>,
    /// Whether retries are entered in the ledger.
    pub(crate) remembers_rounds: bool,
    /// How likely the balancer does each harm, in percent.
    pub(crate) harm: u64,
    pub(crate) events: Vec<(Duration, Event)>,
}

/// Something that happens to the fleet at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Crash(usize),
    /// Messages from and to an instance wait.
    Hold(usize),
    /// Half an hour passes at once.
    Leap,
    /// Messages from and to an instance are lost.
    Partition(usize),
    Release(usize),
    Repair(usize),
    Restart(usize),
    /// An instance reads the keys that take over in five minutes.
    Rotate(usize),
    /// An instance is started again with the next build.
    Upgrade(usize),
}

impl Plan {
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let instances = dice.index(3) + 2;
        let mut skews: Vec<_> = (0..instances)
            .map(|_| dice.between(0, ALLOWED).cast_signed() - ALLOWED.cast_signed() / 2)
            .collect();
        let beyond = dice.percent(25).then(|| dice.index(instances));
        if let Some(instance) = beyond {
            let far = dice.between(2 * ALLOWED, 10 * ALLOWED).cast_signed();
            skews[instance] = if dice.percent(50) { far } else { -far };
        }
        let mut plan = Self {
            instances,
            users: dice.index(2) + 2,
            orders: dice.between(1, 3),
            skews,
            beyond,
            remembers_rounds: dice.percent(50),
            harm: [0, 3, 8][dice.index(3)],
            events: Vec::new(),
        };
        plan.draw_events(dice);
        plan.events.sort_by_key(|(at, _)| *at);
        plan
    }

    fn draw_events(&mut self, dice: &mut Dice) {
        let mut at = |low, high| Duration::from_millis(dice.between(low, high));
        // One after the other, as an orchestrator and a mounted secret do it; the new key
        // takes over with the leap, when everybody has it.
        for instance in 0..self.instances {
            let after = Duration::from_millis(150 * u64::try_from(instance).unwrap_or(0));
            self.events
                .push((at(300, 400) + after, Event::Rotate(instance)));
            self.events
                .push((at(500, 1200) + after, Event::Upgrade(instance)));
        }
        self.events.push((at(1300, 1500), Event::Leap));
        let trouble = dice.index(4);
        for _ in 0..trouble {
            let instance = dice.index(self.instances);
            let begin = Duration::from_millis(dice.between(50, 2500));
            let end = begin + Duration::from_millis(dice.between(50, 800));
            let (first, then) = match dice.index(3) {
                0 => (Event::Crash(instance), Event::Restart(instance)),
                1 => (Event::Hold(instance), Event::Release(instance)),
                _ => (Event::Partition(instance), Event::Repair(instance)),
            };
            self.events.extend([(begin, first), (end, then)]);
        }
    }
}

/// How far two clocks may be apart, in milliseconds.
const ALLOWED: u64 = 60_000;
