//! A worker: one call to the store at a time, from what it knows.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;

use super::system::{FLOW, LEASE, System, TASK, Without, World, name};
use crate::{
    Answer, Claim, Claimant, Commit, Effect, EffectClaim, Entry, Error, Lease, OnceClaim, Outcome,
    Passivated, Passivation, Question, TaskUpdate,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Worker {
    Idle,
    Busy(Run),
}

/// One attempt at the task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    lease: Lease,
    attempt: u8,
    journal: BTreeMap<String, Bytes>,
    inbox: Vec<Answer>,
    ended: bool,
    doing: Doing,
}

/// The progress of an attempt with its current operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Doing {
    /// Nothing: look at the journal and choose.
    Choosing,
    /// The step ran.
    Stepped(Bytes),
    /// The claim of the effect is won.
    Won,
    /// The effect ran.
    Affected(Bytes),
    /// The result of the effect is known.
    Settled(Bytes),
    /// The question is asked.
    Waiting,
}

impl Worker {
    /// Returns whether its next operation is a call that can be repeated.
    pub(super) fn calls(&self) -> bool {
        match self {
            Self::Idle => false,
            Self::Busy(run) => match &run.doing {
                Doing::Choosing => !run.is_about_to_step(),
                Doing::Won => false,
                Doing::Stepped(_) | Doing::Affected(_) | Doing::Settled(_) | Doing::Waiting => true,
            },
        }
    }

    /// Makes the next call and says what the worker is then.
    pub(super) fn work(self, world: &mut World, system: &System) -> Self {
        let mut run = match self {
            Self::Idle => return claim(world),
            Self::Busy(run) => run,
        };
        if system.without == Some(Without::Fences) {
            forget_fences(&mut run, world);
        }
        match run.next(world, system.without) {
            Ok(Some(run)) => Self::Busy(run),
            Ok(None) => Self::Idle,
            Err(_) => {
                world.fenced = true;
                Self::Idle
            }
        }
    }
}

fn claim(world: &mut World) -> Worker {
    let claim = Claim::new(name("worker"), LEASE);
    let Some(claimed) = world.store.claim(&claim, world.now).pop() else {
        return Worker::Idle;
    };
    world.attempts += 1;
    let mut journal = BTreeMap::new();
    for entry in claimed.journal {
        world.reveal(entry.key.as_str(), &entry.value);
        journal.insert(entry.key.as_str().to_owned(), entry.value);
    }
    Worker::Busy(Run {
        lease: claimed.lease,
        attempt: world.attempts,
        journal,
        inbox: claimed.answers,
        ended: claimed.summary.status.is_final(),
        doing: Doing::Choosing,
    })
}

impl Run {
    /// The next call; nothing if the task is given back.
    fn next(mut self, world: &mut World, without: Option<Without>) -> Result<Option<Self>, Error> {
        match std::mem::replace(&mut self.doing, Doing::Choosing) {
            Doing::Choosing => return self.choose(world, without),
            Doing::Stepped(value) => self.append(world, "step", value, None)?,
            Doing::Won => {
                world.effects += 1;
                self.doing = Doing::Affected(self.made("receipt"));
            }
            Doing::Affected(value) => {
                let claimant = self.claimant();
                world
                    .store
                    .settle_once(&effect(), claimant, value.clone(), world.now)?;
                self.doing = Doing::Settled(value);
            }
            Doing::Settled(value) => self.append(world, "effect", value, None)?,
            Doing::Waiting => return self.rest(world, without),
        }
        Ok(Some(self))
    }

    fn choose(
        mut self,
        world: &mut World,
        without: Option<Without>,
    ) -> Result<Option<Self>, Error> {
        let done = |key| self.journal.contains_key(key);
        if self.ended {
            world
                .store
                .finish(self.lease, &Outcome::Cancelled, world.now)?;
            return Ok(None);
        }
        if self.is_about_to_step() {
            world.steps += 1;
            self.doing = Doing::Stepped(self.made("step"));
        } else if let Some(answer) = self.inbox.pop() {
            self.append(world, "answer", answer.response, Some(answer.key.as_str()))?;
        } else if !done("answer") {
            self.ask(world)?;
        } else if !done("effect") && without == Some(Without::Ledger) {
            world.effects += 1;
            self.doing = Doing::Settled(self.made("receipt"));
        } else if !done("effect") {
            let claimant = self.claimant();
            let claim =
                world
                    .store
                    .claim_once(effect(), EffectClaim::new(claimant, FOREVER), world.now)?;
            self.doing = match claim {
                OnceClaim::Won => Doing::Won,
                OnceClaim::Settled { result, .. } => Doing::Settled(result),
                OnceClaim::Ambiguous { .. } => Doing::Settled(Bytes::from_static(b"ambiguous")),
            };
        } else {
            let result = format!("{:?}", self.journal.values());
            let outcome = Outcome::Completed(result.into());
            world.store.finish(self.lease, &outcome, world.now)?;
            return Ok(None);
        }
        Ok(Some(self))
    }

    fn is_about_to_step(&self) -> bool {
        !self.ended && !self.journal.contains_key("step")
    }

    /// Asks, and stays awake for a while in case the answer comes soon.
    fn ask(&mut self, world: &mut World) -> Result<(), Error> {
        let commit = Commit::default().asking([question()]);
        let news = world.store.append(self.lease, &commit, world.now)?;
        self.hear(news);
        self.doing = Doing::Waiting;
        Ok(())
    }

    /// Passivates the task, as no answer has come.
    fn rest(mut self, world: &mut World, without: Option<Without>) -> Result<Option<Self>, Error> {
        let commit = Commit::default().asking([question()]);
        let now = world.now;
        if without == Some(Without::SecondLook) {
            let unread = std::mem::take(&mut world.row_mut().control.unread);
            let rest = Passivation::For(FOREVER);
            let rested = world.store.passivate(self.lease, &commit, rest, now);
            world.row_mut().control.unread = unread;
            return rested.map(|_| None);
        }
        let rest = Passivation::ForAnswers;
        let rested = world.store.passivate(self.lease, &commit, rest, now)?;
        Ok(match rested {
            Passivated::Parked => None,
            Passivated::Refused(news) => {
                self.hear(news);
                Some(self)
            }
        })
    }

    fn append(
        &mut self,
        world: &mut World,
        key: &str,
        value: Bytes,
        taking: Option<&str>,
    ) -> Result<(), Error> {
        let mut commit = Commit::of([Entry::new(name(key), value.clone())]);
        commit.taken.extend(taking.map(name));
        let news = world.store.append(self.lease, &commit, world.now)?;
        world.reveal(key, &value);
        self.journal.insert(key.to_owned(), value);
        self.hear(news);
        Ok(())
    }

    fn hear(&mut self, news: TaskUpdate) {
        self.inbox = news.answers;
        self.ended = news.status.is_final();
    }

    /// Something that only this attempt can have made.
    fn made(&self, what: &str) -> Bytes {
        format!("{what} by {}", self.attempt).into()
    }

    fn claimant(&self) -> Claimant {
        Claimant::from_bytes([self.attempt; 16])
    }
}

fn forget_fences(run: &mut Run, world: &mut World) {
    let row = world.row_mut();
    run.lease = Lease::new(TASK, row.control.fence);
    if let Doing::Stepped(_) = run.doing {
        row.journal.retain(|entry| entry.key.as_str() != "step");
    }
}

fn question() -> Question {
    Question::new(name("question"), [0; 16], Bytes::new())
}

fn effect() -> Effect {
    Effect::new(FLOW, name("effect"))
}

const FOREVER: Duration = Duration::from_secs(1 << 30);
