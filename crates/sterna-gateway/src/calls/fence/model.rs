//! The rules, walked through in every order: a holder and two replicas with answers,
//! any of which may stop for any time, and a holder that may crash.

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::{Asking, Next, Seen};

/// A rule that is left out, to see that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    /// The holder answers without a claim.
    HolderClaim,
    /// A replica refuses after a silence, without a claim.
    ReplicaClaim,
}

struct System {
    without: Option<Without>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Claimant {
    Holder,
    Replica(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    /// It has not seen answers.
    Waiting,
    /// It is about to claim.
    Claiming,
    /// It may answer.
    Granted,
    /// The server has the answers.
    Answered,
    /// It has posted the outcome, or dropped the call.
    Ended {
        shut_out: bool,
    },
    Crashed,
}

/// Outcome that is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Outcome {
    Result,
    Unanswered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Replica {
    Idle,
    Asking(Asking),
    /// It has the claim, and tells the others before its client.
    Granted,
    Delivered,
    RefusedUnanswered,
    RefusedUnknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    claim: Option<Claimant>,
    is_alive: bool,
    outcome: Option<Outcome>,
    holder: Holder,
    replicas: [Replica; 2],
    /// Times that the server got answers.
    answered: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
    Post(usize),
    Hold,
    Crash,
    Alive(usize),
    Outcome(usize),
    Silence(usize),
    Claim(usize),
    Tell(usize),
}

impl World {
    fn is_claimed_by(&mut self, claimant: Claimant) -> bool {
        *self.claim.get_or_insert(claimant) == claimant
    }

    fn has_answers(&self) -> bool {
        self.replicas.iter().any(|one| *one != Replica::Idle)
    }

    fn see(&mut self, index: usize, seen: Seen) {
        let Replica::Asking(asking) = self.replicas[index] else {
            return;
        };
        self.replicas[index] = match asking.after(seen) {
            Next::Be(asking) => Replica::Asking(asking),
            Next::Deliver => match self.outcome {
                Some(Outcome::Unanswered) => Replica::RefusedUnanswered,
                _ => Replica::Delivered,
            },
            Next::RefuseUnanswered => Replica::Granted,
            Next::RefuseUnknown => Replica::RefusedUnknown,
        };
    }

    /// The next step of the holder.
    fn hold(&mut self, without: Option<Without>) {
        self.holder = match self.holder {
            Holder::Waiting => Holder::Claiming,
            Holder::Claiming if without == Some(Without::HolderClaim) => Holder::Granted,
            Holder::Claiming => match self.is_claimed_by(Claimant::Holder) {
                true => {
                    self.is_alive = true;
                    Holder::Granted
                }
                false => Holder::Ended { shut_out: true },
            },
            Holder::Granted => {
                self.answered += 1;
                Holder::Answered
            }
            Holder::Answered => {
                self.outcome.get_or_insert(Outcome::Result);
                Holder::Ended { shut_out: false }
            }
            ended @ (Holder::Ended { .. } | Holder::Crashed) => ended,
        };
    }
}

impl Model for System {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            claim: None,
            is_alive: false,
            outcome: None,
            holder: Holder::Waiting,
            replicas: [Replica::Idle; 2],
            answered: 0,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.has_answers() {
            actions.push(Action::Hold);
        }
        actions.push(Action::Crash);
        for (index, replica) in world.replicas.iter().enumerate() {
            match replica {
                Replica::Idle => actions.push(Action::Post(index)),
                Replica::Asking(Asking::Claiming) => actions.push(Action::Claim(index)),
                Replica::Asking(Asking::Posted | Asking::Following) => {
                    actions.push(Action::Silence(index));
                    if world.is_alive {
                        actions.push(Action::Alive(index));
                    }
                    if world.outcome.is_some() {
                        actions.push(Action::Outcome(index));
                    }
                }
                Replica::Granted => actions.push(Action::Tell(index)),
                Replica::Delivered | Replica::RefusedUnanswered | Replica::RefusedUnknown => {}
            }
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Post(index) => next.replicas[index] = Replica::Asking(Asking::Posted),
            Action::Hold => next.hold(self.without),
            Action::Crash => next.holder = Holder::Crashed,
            Action::Alive(index) => next.see(index, Seen::Alive),
            Action::Outcome(index) => next.see(index, Seen::Outcome),
            Action::Silence(index) => next.see(index, Seen::Silence),
            Action::Claim(index) => {
                let is_granted = self.without == Some(Without::ReplicaClaim)
                    || next.is_claimed_by(Claimant::Replica(index));
                next.see(index, Seen::Claimed(is_granted));
            }
            Action::Tell(index) => {
                next.outcome.get_or_insert(Outcome::Unanswered);
                next.replicas[index] = Replica::RefusedUnanswered;
            }
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(UNANSWERED, |_, world: &World| {
                world.answered == 0 || !world.replicas.contains(&Replica::RefusedUnanswered)
            }),
            Property::always("the server is answered once", |_, world: &World| {
                world.answered <= 1
            }),
            Property::always("a result has an answer", |_, world: &World| {
                world.answered == 1 || !world.replicas.contains(&Replica::Delivered)
            }),
            Property::eventually("each retry gets a response", |_, world: &World| {
                let is_over = |one: &Replica| {
                    matches!(
                        one,
                        Replica::Delivered | Replica::RefusedUnanswered | Replica::RefusedUnknown
                    )
                };
                world.replicas.iter().all(is_over)
            }),
            Property::sometimes("a result is delivered", |_, world: &World| {
                world.replicas.contains(&Replica::Delivered)
            }),
            Property::sometimes("answers are refused", |_, world: &World| {
                world.replicas.contains(&Replica::RefusedUnanswered)
            }),
            Property::sometimes("an outcome is unknown", |_, world: &World| {
                world.replicas.contains(&Replica::RefusedUnknown)
            }),
            Property::sometimes("the holder is shut out", |_, world: &World| {
                world.holder == Holder::Ended { shut_out: true }
            }),
        ]
    }
}

const UNANSWERED: &str = "the server never gets answers that were refused";

#[test]
fn answers_that_were_refused_never_reach_the_server() {
    let system = System { without: None };
    system.checker().spawn_bfs().join().assert_properties();
}

#[test]
fn without_a_claim_they_do() {
    for without in [Without::HolderClaim, Without::ReplicaClaim] {
        let system = System {
            without: Some(without),
        };
        let enough = HasDiscoveries::AnyOf([UNANSWERED].into());
        let checker = system.checker().finish_when(enough).spawn_bfs().join();
        checker.assert_any_discovery(UNANSWERED);
    }
}
