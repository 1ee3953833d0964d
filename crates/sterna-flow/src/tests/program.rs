//! Random handlers, as trees.

use super::rng::Rng;

/// A handler, as a tree. Ids are unique, so every leaf has a name of its own.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Ask(Id, Patience),
    Channel(Box<Self>, Box<Self>),
    Checkpoint(Id),
    /// Built, polled or not, and dropped.
    Dropped(Box<Self>, bool),
    Fail,
    If(Box<Self>, Box<Self>, Box<Self>),
    /// Several at once: `tokio::join!`, `join_all`, `FlowCx::join_all`.
    Join(Joining, Vec<Self>),
    Loop(usize, Box<Self>),
    Memo(Id, Box<Self>),
    Now(Id),
    /// Begun, left alone while the second runs, then awaited.
    Prefetch(Box<Self>, Box<Self>),
    Pure,
    Race(Id, Vec<Self>),
    Random(Id),
    Scope(Id, Box<Self>),
    Select(Selecting, Box<Self>, Box<Self>),
    Seq(Vec<Self>),
    Sleep(Id, u64),
    Step(Id, StepNode),
    Undo(Id),
    /// `FuturesUnordered`: the order of completion is the result.
    Unordered(Vec<Self>),
    Yield(u32),
}

pub(super) type Id = u32;

/// After how many milliseconds a question gives up, if it does.
pub(super) type Patience = Option<u64>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joining {
    CxAll,
    FuturesAll,
    Tokio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selecting {
    Biased,
    Random,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct StepNode {
    pub(super) body: BodyKind,
    pub(super) kind: StepKind,
    /// Number of tries that fail, and number of tries allowed.
    pub(super) fails: u32,
    pub(super) tries: u32,
    pub(super) pause: u64,
    pub(super) timeout: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// Waits until the harness opens its gate.
    Gate,
    /// Ends in its first poll.
    Sync,
    /// Runs on another task, if there is a runtime.
    Spawn,
    /// Wakes itself that often.
    Wakes(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    ByRef,
    Once,
    Plain,
}

/// Makes programs of about `size` leaves.
pub(super) fn generate(rng: &mut Rng, size: usize) -> Node {
    let mut maker = Maker { rng, next: 0 };
    let top = 1 + maker.rng.below(4);
    let items = (0..top)
        .map(|_| maker.node(size / top + 1, Place::Top))
        .collect();
    Node::Seq(items)
}

struct Maker<'r> {
    rng: &'r mut Rng,
    next: Id,
}

/// The position of a node in a program, which limits its kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// One after the other: compensations have an order here.
    Top,
    /// At the same time as something else.
    Branch,
    InMemo,
}

impl Maker<'_> {
    fn id(&mut self) -> Id {
        self.next += 1;
        self.next
    }

    fn node(&mut self, size: usize, place: Place) -> Node {
        if size <= 1 {
            return self.waiter(place);
        }
        let inner = match place {
            Place::InMemo => Place::InMemo,
            _ => Place::Branch,
        };
        match self.rng.below(32) {
            0..4 => Node::Seq(self.some(size, place)),
            4..9 => {
                let joining = *self
                    .rng
                    .pick(&[Joining::Tokio, Joining::FuturesAll, Joining::CxAll])
                    .unwrap();
                Node::Join(joining, self.some(size, inner))
            }
            9..13 => Node::Unordered(self.arms(size, inner)),
            13..19 => {
                let a = Box::new(self.arm(size / 2, inner));
                let b = Box::new(self.arm(size / 2, inner));
                let selecting = match self.rng.chance(70) {
                    true => Selecting::Random,
                    false => Selecting::Biased,
                };
                Node::Select(selecting, a, b)
            }
            19..21 => Node::Race(self.id(), self.arms(size, inner)),
            21..23 => Node::If(
                Box::new(self.node(size / 3, place)),
                Box::new(self.node(size / 3, place)),
                Box::new(self.node(size / 3, place)),
            ),
            23..25 => Node::Loop(2 + self.rng.below(2), Box::new(self.node(size / 2, place))),
            25..27 => Node::Scope(self.id(), Box::new(self.node(size - 1, place))),
            27..29 => Node::Memo(self.id(), Box::new(self.node(size - 1, Place::InMemo))),
            29 => Node::Prefetch(
                Box::new(self.node(size / 2, inner).without_yields()),
                Box::new(self.node(size / 2, inner)),
            ),
            30 => Node::Channel(
                Box::new(self.node(size / 2, inner)),
                Box::new(self.node(size / 2, inner)),
            ),
            _ => Node::Dropped(
                Box::new(self.node(size / 2, inner).without_yields()),
                self.rng.chance(50),
            ),
        }
    }

    fn some(&mut self, size: usize, place: Place) -> Vec<Node> {
        let count = 2 + self.rng.below(3);
        (0..count).map(|_| self.node(size / count, place)).collect()
    }

    /// Arms of a choice. One that is ready at once would make the choice depend
    /// on the order of polls.
    fn arms(&mut self, size: usize, place: Place) -> Vec<Node> {
        let count = 2 + self.rng.below(3);
        (0..count).map(|_| self.arm(size / count, place)).collect()
    }

    fn arm(&mut self, size: usize, place: Place) -> Node {
        let arm = self.node(size, place);
        match arm.blocks() {
            true => arm,
            false => Node::Ask(self.id(), None),
        }
    }

    fn waiter(&mut self, place: Place) -> Node {
        match self.rng.below(40) {
            0..17 => {
                let patience = self.rng.chance(10).then(|| 1 + self.rng.below(2000) as u64);
                Node::Ask(self.id(), patience)
            }
            17..33 => Node::Step(self.id(), self.step()),
            33 => Node::Sleep(self.id(), 1 + self.rng.below(2000) as u64),
            34 => Node::Now(self.id()),
            35 => Node::Checkpoint(self.id()),
            36 => Node::Random(self.id()),
            37 => Node::Yield(1 + u32::try_from(self.rng.below(3)).unwrap()),
            38 if place == Place::Top => match self.rng.chance(70) {
                true => Node::Undo(self.id()),
                false => Node::Fail,
            },
            _ => Node::Pure,
        }
    }

    fn step(&mut self) -> StepNode {
        let body = match self.rng.below(10) {
            0..4 => BodyKind::Sync,
            4..8 => BodyKind::Gate,
            8 => BodyKind::Spawn,
            _ => BodyKind::Wakes(1 + u32::try_from(self.rng.below(3)).unwrap()),
        };
        let kind = match self.rng.below(12) {
            0 => StepKind::ByRef,
            1 => StepKind::Once,
            _ => StepKind::Plain,
        };
        let retried = kind != StepKind::Once && self.rng.chance(15);
        let fails = match self.rng.chance(15) {
            true => 1 + u32::try_from(self.rng.below(2)).unwrap(),
            false => 0,
        };
        StepNode {
            body,
            kind,
            fails,
            tries: if retried { 2 } else { 1 },
            pause: if self.rng.chance(50) { 5 } else { 0 },
            timeout: (body == BodyKind::Gate && self.rng.chance(15)).then_some(300),
        }
    }
}

impl Node {
    /// Returns whether it cannot end without an event.
    pub(super) fn blocks(&self) -> bool {
        match self {
            Self::Ask(..)
            | Self::Checkpoint(_)
            | Self::Memo(..)
            | Self::Now(_)
            | Self::Race(..)
            | Self::Sleep(..)
            | Self::Step(..) => true,
            Self::Dropped(..)
            | Self::Fail
            | Self::Pure
            | Self::Random(_)
            | Self::Undo(_)
            | Self::Yield(_) => false,
            Self::Channel(a, b) | Self::Prefetch(a, b) => a.blocks() || b.blocks(),
            Self::If(condition, then, otherwise) => {
                condition.blocks() || (then.blocks() && otherwise.blocks())
            }
            Self::Join(_, arms) | Self::Unordered(arms) | Self::Seq(arms) => {
                arms.iter().any(Self::blocks)
            }
            Self::Loop(_, body) | Self::Scope(_, body) => body.blocks(),
            Self::Select(_, a, b) => a.blocks() && b.blocks(),
        }
    }

    /// The same without what a single poll does not get past.
    fn without_yields(mut self) -> Self {
        self = match self {
            Self::Yield(_) => Self::Pure,
            Self::Unordered(arms) => Self::Join(Joining::CxAll, arms),
            other => other,
        };
        for at in 0..self.children().len() {
            let child = self.children()[at].clone().without_yields();
            self = self.with_child(at, Some(child));
        }
        self
    }

    /// Returns whether every choice in it is one that the generator makes.
    fn is_sound(&self) -> bool {
        let sound = match self {
            Self::Select(_, a, b) => a.blocks() && b.blocks(),
            Self::Race(_, arms) | Self::Unordered(arms) => arms.iter().all(Self::blocks),
            _ => true,
        };
        sound && self.children().into_iter().all(Self::is_sound)
    }

    /// The same with nothing in it but answers and effects that happen at most
    /// once: what such a program does follows from its answers alone.
    pub(super) fn of_answers_and_effects(&self) -> Self {
        let all = |arms: &[Self]| arms.iter().map(Self::of_answers_and_effects).collect();
        let one = |node: &Self| Box::new(node.of_answers_and_effects());
        match self {
            Self::Ask(id, _) => Self::Ask(*id, None),
            Self::Step(id, step) => {
                let mut step = *step;
                step.kind = StepKind::Once;
                (step.tries, step.timeout) = (1, None);
                Self::Step(*id, step)
            }
            Self::Join(_, arms) | Self::Unordered(arms) | Self::Race(_, arms) => {
                Self::Join(Joining::CxAll, all(arms))
            }
            Self::Select(_, a, b) => Self::Join(Joining::Tokio, vec![*one(a), *one(b)]),
            Self::Seq(items) => Self::Seq(all(items)),
            Self::If(a, b, c) => Self::If(one(a), one(b), one(c)),
            Self::Loop(times, body) => Self::Loop(*times, one(body)),
            Self::Scope(id, body) => Self::Scope(*id, one(body)),
            Self::Memo(id, body) => Self::Memo(*id, one(body)),
            Self::Prefetch(a, b) => Self::Prefetch(one(a), one(b)),
            Self::Channel(a, b) => Self::Channel(one(a), one(b)),
            Self::Random(id) => Self::Random(*id),
            Self::Yield(count) => Self::Yield(*count),
            _ => Self::Pure,
        }
    }

    /// Smaller programs that are like this one.
    pub(super) fn smaller(&self) -> Vec<Self> {
        let mut smaller = self.candidates();
        smaller.retain(Self::is_sound);
        smaller
    }

    fn candidates(&self) -> Vec<Self> {
        let mut out: Vec<Self> = self.children().into_iter().cloned().collect();
        let count = self.children().len();
        for at in 0..count {
            for child in self.children()[at].candidates() {
                out.push(self.with_child(at, Some(child)));
            }
            if matches!(
                self,
                Self::Seq(_) | Self::Join(..) | Self::Unordered(_) | Self::Race(..)
            ) && count > 1
            {
                out.push(self.with_child(at, None));
            }
        }
        if !matches!(self, Self::Pure) && count == 0 {
            out.push(Self::Pure);
        }
        out
    }

    fn children(&self) -> Vec<&Self> {
        match self {
            Self::Channel(a, b) | Self::Prefetch(a, b) | Self::Select(_, a, b) => vec![a, b],
            Self::If(a, b, c) => vec![a, b, c],
            Self::Join(_, arms) | Self::Unordered(arms) | Self::Seq(arms) | Self::Race(_, arms) => {
                arms.iter().collect()
            }
            Self::Dropped(a, _) | Self::Loop(_, a) | Self::Memo(_, a) | Self::Scope(_, a) => {
                vec![a]
            }
            _ => Vec::new(),
        }
    }

    fn with_child(&self, at: usize, child: Option<Self>) -> Self {
        let mut copy = self.clone();
        match &mut copy {
            Self::Join(_, arms) | Self::Unordered(arms) | Self::Seq(arms) | Self::Race(_, arms) => {
                match child {
                    Some(child) => arms[at] = child,
                    None => drop(arms.remove(at)),
                }
            }
            Self::Channel(a, b) | Self::Prefetch(a, b) | Self::Select(_, a, b) => {
                **[a, b].into_iter().nth(at).unwrap() = child.unwrap();
            }
            Self::If(a, b, c) => {
                **[a, b, c].into_iter().nth(at).unwrap() = child.unwrap();
            }
            Self::Dropped(a, _) | Self::Loop(_, a) | Self::Memo(_, a) | Self::Scope(_, a) => {
                **a = child.unwrap();
            }
            _ => {}
        }
        copy
    }
}
