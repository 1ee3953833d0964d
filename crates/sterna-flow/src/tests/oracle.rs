//! The required behaviour of a program, worked out without futures, wakers or
//! polls.
//!
//! The oracle is told what happened, one entry after the other, and walks the
//! program as a tree of states. It says what must be open in between and what
//! must come out in the end.

use std::collections::{BTreeMap, HashMap};

use super::interpret::{ELAPSED, Eval, FAILED, Stop, words};
use super::program::{Id, Node};
use super::rng::combine;
use crate::random::Random;
use crate::{FlowId, Key, Kind};

/// Something that happened, as the journal tells it.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) key: String,
    pub(super) kind: Kind,
    /// The result: a number, or `None` if it is unusable.
    pub(super) value: Option<u64>,
    /// The result of a memo or a race.
    pub(super) eval: Option<Eval>,
}

pub(super) struct Oracle<'p> {
    root: Sim<'p>,
    names: Names,
}

/// Names that were used, and everything else that depends on the path.
#[derive(Default)]
struct Names {
    uses: HashMap<String, u32>,
    undos: Vec<Key>,
}

impl Names {
    fn take(&mut self, scope: &str, name: &str) -> String {
        let base = format!("{scope}{name}");
        let count = self.uses.entry(base.clone()).or_default();
        *count += 1;
        match count {
            1 => base,
            count => format!("{base}#{count}"),
        }
    }
}

impl<'p> Oracle<'p> {
    pub(super) fn new(program: &'p Node) -> Self {
        let mut names = Names::default();
        let root = Sim::start(program, 0, "", &mut names);
        Self { root, names }
    }

    pub(super) fn result(&self) -> Option<Eval> {
        self.root.result()
    }

    /// The compensations that were registered, in order.
    pub(super) fn undos(&self) -> &[Key] {
        &self.names.undos
    }

    /// The questions that are open, with what they say.
    pub(super) fn questions(&self) -> BTreeMap<String, String> {
        let mut questions = BTreeMap::new();
        self.root.questions(&mut questions);
        questions
    }

    pub(super) fn feed(&mut self, event: &Event) {
        self.root.feed(event, &mut self.names);
    }
}

/// A node in progress.
enum Sim<'p> {
    Done(Eval),
    Waiter(Waiter),
    Seq {
        rest: std::vec::IntoIter<&'p Node>,
        now: Box<Self>,
        scope: String,
    },
    If {
        condition: Box<Self>,
        then: &'p Node,
        otherwise: &'p Node,
        scope: String,
    },
    Join {
        arms: Vec<Self>,
        acc: u64,
    },
    Unordered {
        arms: Vec<Self>,
        total: u64,
    },
    Select(Box<Self>, Box<Self>),
    /// A memo or a race: ends when its own entry comes.
    Recorded {
        key: String,
        kind: Kind,
        arms: Vec<Self>,
        won: Option<Eval>,
    },
    Prefetch {
        first: Box<Self>,
        held: Vec<Event>,
        second: Box<Self>,
    },
    Channel {
        first: Box<Self>,
        second: Receiver<'p>,
        acc: u64,
        scope: String,
    },
}

enum Receiver<'p> {
    Waiting(&'p Node),
    Running(Box<Sim<'p>>),
}

struct Waiter {
    key: String,
    generation: u32,
    kind: Kind,
    acc: u64,
    words: Option<String>,
}

impl<'p> Sim<'p> {
    fn start(node: &'p Node, acc: u64, scope: &str, names: &mut Names) -> Self {
        let waiter = |names: &mut Names, name: String, kind, words| {
            Self::Waiter(Waiter {
                key: names.take(scope, &name),
                generation: 1,
                kind,
                acc,
                words,
            })
        };
        let mut sim = match node {
            Node::Pure => Self::Done(Ok(combine(acc, 1))),
            Node::Yield(_) => Self::Done(Ok(acc)),
            Node::Fail => Self::Done(Err(Stop)),
            Node::Ask(id, _) => {
                waiter(names, format!("q{id}"), Kind::Answer, Some(words(*id, acc)))
            }
            Node::Step(id, _) => waiter(names, format!("s{id}"), Kind::Step, None),
            Node::Sleep(id, _) => waiter(names, format!("z{id}"), Kind::Elapsed, None),
            Node::Now(id) => waiter(names, format!("n{id}"), Kind::Now, None),
            Node::Checkpoint(id) => waiter(names, format!("c{id}"), Kind::Checkpoint, None),
            Node::Random(id) => Self::Done(Ok(combine(acc, random(scope, *id, names)))),
            Node::Undo(id) => {
                names.undos.push(Key::new(&format!("u{id}")));
                Self::Done(Ok(acc))
            }
            Node::Seq(items) => Self::seq(items.iter().collect(), acc, scope),
            Node::Loop(times, body) => Self::seq(vec![&**body; *times], acc, scope),
            Node::Scope(id, body) => {
                return Self::start(body, acc, &format!("{scope}scope-{id}/"), names);
            }
            Node::If(condition, then, otherwise) => Self::If {
                condition: Box::new(Self::start(condition, acc, scope, names)),
                then,
                otherwise,
                scope: scope.to_owned(),
            },
            Node::Memo(id, body) => {
                let key = names.take(scope, &format!("m{id}"));
                let inner = Self::start(body, acc, &format!("{key}*/"), names);
                Self::Recorded {
                    key,
                    kind: Kind::Memo,
                    arms: vec![inner],
                    won: None,
                }
            }
            Node::Race(id, arms) => Self::Recorded {
                key: names.take(scope, &format!("w{id}")),
                kind: Kind::Race,
                arms: race_arms(arms, acc, scope, names),
                won: None,
            },
            Node::Join(_, arms) => Self::Join {
                arms: all(arms, acc, scope, names),
                acc,
            },
            Node::Unordered(arms) => Self::Unordered {
                arms: all(arms, acc, scope, names),
                total: acc,
            },
            Node::Select(_, a, b) => {
                let a = Self::start(a, acc, scope, names);
                // A choice that is made already never looks at its second arm.
                let b = match a.result() {
                    Some(_) => Self::Done(Err(Stop)),
                    None => Self::start(b, acc, scope, names),
                };
                Self::Select(Box::new(a), Box::new(b))
            }
            Node::Prefetch(first, second) => Self::Prefetch {
                first: Box::new(Self::start(first, acc, scope, names)),
                held: Vec::new(),
                second: Box::new(Self::start(second, acc, scope, names)),
            },
            Node::Channel(a, b) => Self::Channel {
                first: Box::new(Self::start(a, acc, scope, names)),
                second: Receiver::Waiting(b),
                acc,
                scope: scope.to_owned(),
            },
            Node::Dropped(inner, polled) => {
                if *polled {
                    Self::start(inner, acc, scope, names);
                }
                Self::Done(Ok(acc))
            }
        };
        sim.settle(names);
        sim
    }

    fn seq(items: Vec<&'p Node>, acc: u64, scope: &str) -> Self {
        Self::Seq {
            rest: items.into_iter(),
            now: Box::new(Self::Done(Ok(acc))),
            scope: scope.to_owned(),
        }
    }

    fn result(&self) -> Option<Eval> {
        match self {
            Self::Done(result) => Some(*result),
            _ => None,
        }
    }

    /// Goes on as far as possible without being told anything.
    fn settle(&mut self, names: &mut Names) {
        loop {
            let next = match self {
                Self::Done(_) | Self::Waiter(_) => return,
                Self::Seq { rest, now, scope } => match now.result() {
                    None => return,
                    Some(Err(stop)) => Self::Done(Err(stop)),
                    Some(Ok(acc)) => match rest.next() {
                        None => Self::Done(Ok(acc)),
                        Some(node) => {
                            **now = Self::start(node, acc, scope, names);
                            continue;
                        }
                    },
                },
                Self::If {
                    condition,
                    then,
                    otherwise,
                    scope,
                } => match condition.result() {
                    None => return,
                    Some(Err(stop)) => Self::Done(Err(stop)),
                    Some(Ok(value)) => {
                        let next = if value % 2 == 0 { *then } else { *otherwise };
                        Self::start(next, value, scope, names)
                    }
                },
                Self::Join { arms, acc } => {
                    let results: Option<Vec<Eval>> = arms.iter().map(Self::result).collect();
                    match results {
                        None => return,
                        Some(results) => Self::Done(fold(*acc, results)),
                    }
                }
                Self::Unordered { arms, total } => {
                    let Some(at) = arms.iter().position(|arm| arm.result().is_some()) else {
                        if arms.is_empty() {
                            *self = Self::Done(Ok(*total));
                        }
                        return;
                    };
                    match arms.remove(at).result() {
                        Some(Ok(value)) => {
                            *total = combine(*total, value);
                            continue;
                        }
                        _ => Self::Done(Err(Stop)),
                    }
                }
                Self::Select(a, b) => match (a.result(), b.result()) {
                    (Some(value), _) => Self::Done(value.map(|value| combine(value, 10))),
                    (None, Some(value)) => Self::Done(value.map(|value| combine(value, 20))),
                    (None, None) => return,
                },
                Self::Recorded { arms, won, .. } => {
                    if won.is_none() {
                        *won = arms.iter().find_map(Self::result);
                        if won.is_some() {
                            arms.clear();
                        }
                    }
                    return;
                }
                Self::Prefetch {
                    first,
                    held,
                    second,
                } => match second.result() {
                    None => return,
                    Some(Err(stop)) => Self::Done(Err(stop)),
                    Some(Ok(second)) => {
                        for event in std::mem::take(held) {
                            first.feed(&event, names);
                        }
                        match first.result() {
                            None => return,
                            Some(first) => Self::Done(first.map(|first| combine(first, second))),
                        }
                    }
                },
                Self::Channel {
                    first,
                    second,
                    acc,
                    scope,
                } => match (first.result(), &mut *second) {
                    (None, _) => return,
                    (Some(Err(stop)), _) => Self::Done(Err(stop)),
                    (Some(Ok(value)), Receiver::Waiting(node)) => {
                        let sim = Self::start(node, combine(*acc, value), scope, names);
                        *second = Receiver::Running(Box::new(sim));
                        continue;
                    }
                    (Some(Ok(value)), Receiver::Running(sim)) => match sim.result() {
                        None => return,
                        Some(second) => Self::Done(second.map(|second| combine(value, second))),
                    },
                },
            };
            *self = next;
        }
    }

    /// Tells this part of the program that something happened.
    fn feed(&mut self, event: &Event, names: &mut Names) {
        match self {
            Self::Done(_) => return,
            Self::Waiter(waiter) => {
                if let Some(result) = waiter.feed(event) {
                    *self = Self::Done(Ok(result));
                }
                return;
            }
            Self::Seq { now, .. } => now.feed(event, names),
            Self::If { condition, .. } => condition.feed(event, names),
            Self::Join { arms, .. } | Self::Unordered { arms, .. } => {
                for arm in arms {
                    arm.feed(event, names);
                }
            }
            Self::Select(a, b) => {
                a.feed(event, names);
                b.feed(event, names);
            }
            Self::Recorded {
                key,
                kind,
                arms,
                won,
            } => {
                if event.key == *key && event.kind == *kind {
                    // A memo's inside may be gone; then its entry is all there is.
                    let result = won.or(event.eval).unwrap_or(Err(Stop));
                    *self = Self::Done(result);
                    return;
                }
                for arm in arms {
                    arm.feed(event, names);
                }
            }
            Self::Prefetch {
                first,
                held,
                second,
            } => {
                if second.result().is_some() {
                    first.feed(event, names);
                } else {
                    if first.waits_for(event) {
                        held.push(event.clone());
                    }
                    second.feed(event, names);
                }
            }
            Self::Channel { first, second, .. } => {
                first.feed(event, names);
                if let Receiver::Running(sim) = second {
                    sim.feed(event, names);
                }
            }
        }
        self.settle(names);
    }

    fn waits_for(&self, event: &Event) -> bool {
        match self {
            Self::Done(_) => false,
            Self::Waiter(waiter) => waiter.may_want(event),
            Self::Seq { now, .. } => now.waits_for(event),
            Self::If { condition, .. } => condition.waits_for(event),
            Self::Join { arms, .. } | Self::Unordered { arms, .. } => {
                arms.iter().any(|arm| arm.waits_for(event))
            }
            Self::Select(a, b) => a.waits_for(event) || b.waits_for(event),
            Self::Recorded { key, arms, .. } => {
                event.key == *key || arms.iter().any(|arm| arm.waits_for(event))
            }
            Self::Prefetch { first, second, .. } => {
                first.waits_for(event) || second.waits_for(event)
            }
            Self::Channel { first, second, .. } => {
                first.waits_for(event)
                    || matches!(second, Receiver::Running(sim) if sim.waits_for(event))
            }
        }
    }

    fn questions(&self, out: &mut BTreeMap<String, String>) {
        match self {
            Self::Done(_) => {}
            Self::Waiter(waiter) => {
                if let Some(words) = &waiter.words {
                    out.insert(waiter.wire(), words.clone());
                }
            }
            Self::Seq { now, .. } => now.questions(out),
            Self::If { condition, .. } => condition.questions(out),
            Self::Join { arms, .. }
            | Self::Unordered { arms, .. }
            | Self::Recorded { arms, .. } => {
                for arm in arms {
                    arm.questions(out);
                }
            }
            Self::Select(a, b) => {
                a.questions(out);
                b.questions(out);
            }
            Self::Prefetch {
                first,
                held,
                second,
            } => {
                first.questions(out);
                for event in held {
                    out.remove(&event.key);
                }
                second.questions(out);
            }
            Self::Channel { first, second, .. } => {
                first.questions(out);
                if let Receiver::Running(sim) = second {
                    sim.questions(out);
                }
            }
        }
    }
}

impl Waiter {
    fn wire(&self) -> String {
        match self.generation {
            1 => self.key.clone(),
            generation => format!("{}~{generation}", self.key),
        }
    }

    /// Returns whether the event is for this leaf, now or after an answer that is no
    /// good.
    fn may_want(&self, event: &Event) -> bool {
        let later = event.key.strip_prefix(&self.key);
        event.key == self.wire() || later.is_some_and(|later| later.starts_with('~'))
    }

    fn feed(&mut self, event: &Event) -> Option<u64> {
        if event.key != self.wire() || event.kind == Kind::Timer {
            return None;
        }
        let value = match (self.kind, event.kind) {
            (Kind::Answer, Kind::Answer | Kind::Rejected) => match event.value {
                Some(value) => value,
                None => {
                    self.generation += 1;
                    return None;
                }
            },
            (Kind::Answer, Kind::Elapsed) => ELAPSED,
            (Kind::Step, Kind::Step | Kind::Once) => event.value.unwrap_or(FAILED),
            (Kind::Elapsed, Kind::Elapsed) => 2,
            (Kind::Checkpoint, Kind::Checkpoint) => 3,
            (Kind::Now, Kind::Now) => event.value?,
            _ => return None,
        };
        Some(combine(self.acc, value))
    }
}

fn all<'p>(arms: &'p [Node], acc: u64, scope: &str, names: &mut Names) -> Vec<Sim<'p>> {
    arms.iter()
        .map(|arm| Sim::start(arm, acc, scope, names))
        .collect()
}

/// A race looks at its arms in order, and at none after the first that is ready.
fn race_arms<'p>(arms: &'p [Node], acc: u64, scope: &str, names: &mut Names) -> Vec<Sim<'p>> {
    let mut sims = Vec::new();
    for arm in arms {
        let sim = Sim::start(arm, acc, scope, names);
        let ready = sim.result().is_some();
        sims.push(sim);
        if ready {
            break;
        }
    }
    sims
}

fn fold(acc: u64, results: Vec<Eval>) -> Eval {
    results
        .into_iter()
        .try_fold(acc, |total, value| Ok(combine(total, value?)))
}

fn random(scope: &str, id: Id, names: &mut Names) -> u64 {
    let key = names.take(scope, &format!("r{id}?"));
    let digest = std::sync::Arc::new(super::sha256);
    Random::derive(digest, &FlowId::from_bytes(super::FLOW), &Key::new(&key)).number()
}
