//! What everybody in the simulation saw, written down where a judge finds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::WorldClock;

/// What is ordered, and by whom: the arguments of the tool.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct Order {
    pub(crate) user: String,
    pub(crate) number: u64,
}

impl Order {
    /// What its user answers to the question `name`, and nobody else does.
    pub(crate) fn answer(&self, name: &str) -> String {
        format!("{self}/{name}")
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.user, self.number)
    }
}

/// A request that carries state, as it passed the balancer.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) user: String,
    pub(crate) body: Bytes,
}

/// The notes of one simulation. Clones are one world.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) clock: WorldClock,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Debug, Default)]
struct Notes {
    violations: Vec<String>,
    log: Vec<String>,
    payments: BTreeMap<Order, u32>,
    /// Orders of which a message was lost, delayed or delivered twice.
    disturbed: BTreeSet<Order>,
    ended: usize,
    unclear: usize,
    users_done: usize,
    plans: u64,
    captured: Vec<Captured>,
    /// One handle for every time an instance was started.
    presences: Vec<(usize, Weak<()>)>,
}

impl World {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn log(&self, line: impl fmt::Display) {
        let at = turmoil::sim_elapsed().unwrap_or_default();
        self.notes()
            .log
            .push(format!("{:>6} {line}", at.as_millis()));
    }

    /// Something is not as it must be.
    pub(crate) fn violated(&self, rule: impl fmt::Display) {
        let rule = rule.to_string();
        self.log(format_args!("VIOLATED {rule}"));
        self.notes().violations.push(rule);
    }

    /// A number that no two runs of a step get.
    pub(crate) fn fresh_plan(&self) -> u64 {
        let mut notes = self.notes();
        notes.plans += 1;
        notes.plans
    }

    /// Money changes hands.
    pub(crate) fn pay(&self, order: &Order) {
        self.log(format_args!("{order} is paid"));
        let times = {
            let mut notes = self.notes();
            let times = notes.payments.entry(order.clone()).or_default();
            *times += 1;
            *times
        };
        if times > 1 {
            self.violated(format_args!("{order} was paid {times} times"));
        }
    }

    pub(crate) fn payments(&self, order: &Order) -> u32 {
        self.notes().payments.get(order).copied().unwrap_or(0)
    }

    pub(crate) fn disturb(&self, order: &Order) {
        self.notes().disturbed.insert(order.clone());
    }

    pub(crate) fn is_disturbed(&self, order: &Order) -> bool {
        self.notes().disturbed.contains(order)
    }

    pub(crate) fn order_ended(&self, is_unclear: bool) {
        let mut notes = self.notes();
        notes.ended += 1;
        notes.unclear += usize::from(is_unclear);
    }

    /// How many orders have ended, and how many of them without knowing
    /// whether they were paid.
    pub(crate) fn ended(&self) -> (usize, usize) {
        let notes = self.notes();
        (notes.ended, notes.unclear)
    }

    pub(crate) fn user_is_done(&self) {
        self.notes().users_done += 1;
    }

    pub(crate) fn users_done(&self) -> usize {
        self.notes().users_done
    }

    pub(crate) fn capture(&self, captured: Captured) {
        self.notes().captured.push(captured);
    }

    pub(crate) fn captured(&self) -> Vec<Captured> {
        self.notes().captured.clone()
    }

    pub(crate) fn instance_started(&self, instance: usize, presence: &Arc<()>) {
        let presence = Arc::downgrade(presence);
        self.notes().presences.push((instance, presence));
    }

    /// For every start of an instance, how much of it is still there: itself,
    /// and whatever its handlers left behind.
    pub(crate) fn presences(&self) -> Vec<(usize, usize)> {
        let notes = self.notes();
        let presences = notes.presences.iter();
        presences
            .map(|(instance, presence)| (*instance, presence.strong_count()))
            .collect()
    }

    pub(crate) fn into_notes(self) -> (Vec<String>, Vec<String>) {
        let mut notes = self.notes();
        let violations = std::mem::take(&mut notes.violations);
        (violations, std::mem::take(&mut notes.log))
    }
}
