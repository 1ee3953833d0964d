//! The world: a store, two workers, a client, and time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use super::{State, Worker};
use crate::memory::row::Row;
use crate::{Answer, FlowId, MemoryLimits, Name, NewTask, Owner, Status, TaskId, UnixMillis};

/// The faults of a run, and the largest number of each.
#[derive(Default)]
pub(super) struct System {
    pub(super) without: Option<Without>,
    pub(super) crashes: u8,
    /// Number of times that a lease may run out while its worker could still act.
    pub(super) stalls: u8,
    /// Number of acknowledgements that may get lost.
    pub(super) lost: u8,
    pub(super) cancels: u8,
}

/// A rule that is left out, to see that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Without {
    /// The store accepts every writer, and the last write wins.
    Fences,
    /// Effects are run without asking.
    Ledger,
    /// The inbox is not looked at when a task goes to rest.
    SecondLook,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) store: State,
    pub(super) now: UnixMillis,
    workers: [Worker; 2],
    /// The client has seen the question and has an answer on its way.
    client: Option<&'static str>,
    asked_client: bool,
    crashes: u8,
    stalls: u8,
    lost: u8,
    cancels: u8,
    /// Makes every attempt different from every other.
    pub(super) attempts: u8,
    /// Values that a worker has acted upon, by key.
    pub(super) revealed: BTreeMap<String, BTreeSet<String>>,
    /// Answers the store took.
    pub(super) accepted: BTreeSet<String>,
    pub(super) ends: BTreeSet<String>,
    pub(super) effects: u8,
    pub(super) steps: u8,
    pub(super) fenced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Action {
    /// A worker makes its next call.
    Work(usize),
    /// A worker makes its next call and does not learn what came of it.
    Unheard(usize),
    Crash(usize),
    /// Every lease runs out.
    Stall,
    /// The client sees the question.
    Look,
    /// The client's answer arrives.
    Answer,
    Cancel,
}

pub(super) const LEASE: Duration = Duration::from_millis(10);
pub(super) const TASK: TaskId = TaskId::from_bytes([1; 16]);
pub(super) const FLOW: FlowId = FlowId::from_bytes([1; 16]);
const CALLER: Owner = Owner::from_digest([1; 32]);

impl World {
    pub(super) fn new() -> Self {
        let mut store = State::new(MemoryLimits::default());
        let now = UnixMillis::new(0);
        let task = NewTask::new(TASK, CALLER, FLOW, name("tool"), Bytes::new());
        store.create(task, now).unwrap();
        Self {
            store,
            now,
            workers: [Worker::Idle, Worker::Idle],
            client: None,
            asked_client: false,
            crashes: 0,
            stalls: 0,
            lost: 0,
            cancels: 0,
            attempts: 0,
            revealed: BTreeMap::new(),
            accepted: BTreeSet::new(),
            ends: BTreeSet::new(),
            effects: 0,
            steps: 0,
            fenced: false,
        }
    }

    pub(super) fn row(&self) -> &Row {
        &self.store.tasks[&TASK]
    }

    pub(super) fn row_mut(&mut self) -> &mut Row {
        self.store.tasks.get_mut(&TASK).unwrap()
    }

    pub(super) fn actions(&self, system: &System, actions: &mut Vec<Action>) {
        let mut anybody_acts = false;
        for (who, worker) in self.workers.iter().enumerate() {
            let acts = *worker != Worker::Idle || self.row().control.is_due(self.now);
            anybody_acts |= acts;
            // Two idle workers are the same worker.
            let same = who == 1 && self.workers == [Worker::Idle, Worker::Idle];
            if acts && !same {
                actions.push(Action::Work(who));
            }
            if *worker != Worker::Idle {
                if self.lost < system.lost && worker.calls() {
                    actions.push(Action::Unheard(who));
                }
                if self.crashes < system.crashes {
                    actions.push(Action::Crash(who));
                }
            }
        }
        if self.row().control.status == Status::InputRequired && !self.asked_client {
            actions.push(Action::Look);
        }
        if self.client.is_some() {
            actions.push(Action::Answer);
        }
        if self.cancels < system.cancels {
            actions.push(Action::Cancel);
        }
        // Time passes for free when no worker can do anything else.
        let waiting = self.row().control.due_at.is_some();
        if waiting && (self.stalls < system.stalls || !anybody_acts) {
            actions.push(Action::Stall);
        }
    }

    pub(super) fn act(&mut self, system: &System, action: Action) {
        match action {
            Action::Work(who) => {
                let worker = std::mem::replace(&mut self.workers[who], Worker::Idle);
                self.workers[who] = worker.work(self, system);
            }
            Action::Unheard(who) => {
                self.lost += 1;
                let worker = self.workers[who].clone();
                worker.work(self, system);
            }
            Action::Crash(who) => {
                self.crashes += 1;
                self.workers[who] = Worker::Idle;
            }
            Action::Stall => {
                let due = self.row().control.due_at;
                let anybody = self.workers.iter().any(|worker| *worker != Worker::Idle);
                if anybody {
                    self.stalls += 1;
                }
                self.now = due.map_or(self.now, |due| due.max(self.now));
            }
            Action::Look => {
                self.asked_client = true;
                self.client = Some("yes");
            }
            Action::Answer => self.answer(),
            Action::Cancel => {
                self.cancels += 1;
                self.store.cancel(CALLER, TASK, self.now);
            }
        }
        if self.workers[0] == Worker::Idle {
            self.workers.swap(0, 1);
        }
        let task = self.store.read(CALLER, TASK).unwrap();
        if task.summary.status.is_final() {
            let end = (task.summary.status, task.outcome);
            self.ends.insert(format!("{end:?}"));
        }
    }

    /// The client answers, and then once more with something else, as a
    /// careless one would.
    fn answer(&mut self) {
        let Some(text) = self.client else { return };
        let answer = Answer::new(name("question"), Bytes::from_static(text.as_bytes()));
        let answered = self.store.answer(CALLER, TASK, &[answer], self.now);
        if answered
            .unwrap()
            .is_some_and(|answered| answered.accepted > 0)
        {
            self.accepted.insert(text.to_owned());
        }
        self.client = match text {
            "yes" => Some("no"),
            _ => None,
        };
    }

    /// Notes that a worker acts upon `value` of `key`.
    pub(super) fn reveal(&mut self, key: &str, value: &Bytes) {
        let value = String::from_utf8_lossy(value).into_owned();
        self.revealed
            .entry(key.to_owned())
            .or_default()
            .insert(value);
    }
}

pub(super) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}
