//! The protocol, walked through in every order.
//!
//! Two workers share one task: a step, a question, an effect that must not run
//! twice, a result. They crash between any two calls, stall for longer than
//! their lease and then go on, and lose acknowledgements. The store is the
//! state of the memory store itself, so what is checked is what runs.

mod system;
mod worker;

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::state::State;
use crate::Status;
use system::{Action, System, Without, World};
use worker::Worker;

impl Model for System {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(self, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.act(self, action);
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a key has one value", |_, world: &World| {
                world.revealed.values().all(|values| values.len() == 1)
            }),
            Property::always("a task ends once", |_, world: &World| world.ends.len() <= 1),
            Property::always("an effect runs at most once", |_, world: &World| {
                world.effects <= 1
            }),
            Property::always("no answer is left unread at rest", |_, world: &World| {
                let control = &world.row().control;
                control.held
                    || control.unread == 0
                    || control.is_due(world.now)
                    || control.is_done()
            }),
            Property::always(
                "the answer used is the answer accepted",
                |_, world: &World| {
                    let used = world.revealed.get("answer");
                    used.is_none_or(|used| used.iter().eq(&world.accepted))
                },
            ),
            Property::eventually("the task ends", |_, world: &World| {
                world.row().control.is_done()
            }),
            Property::sometimes("a step runs twice", |_, world: &World| world.steps > 1),
            Property::sometimes("an effect is ambiguous", |_, world: &World| {
                world
                    .revealed
                    .get("effect")
                    .is_some_and(|seen| seen.contains("ambiguous"))
            }),
            Property::sometimes("a worker is shut out", |_, world: &World| world.fenced),
            Property::sometimes("the task completes", |_, world: &World| {
                world.row().control.status == Status::Completed
            }),
        ]
    }
}

#[test]
fn workers_that_stall_longer_than_their_lease_break_nothing() {
    holds(System {
        stalls: 2,
        crashes: 1,
        ..System::default()
    });
}

#[test]
fn workers_that_crash_again_and_again_break_nothing() {
    holds(System {
        stalls: 1,
        crashes: 2,
        ..System::default()
    });
}

#[test]
fn a_lost_acknowledgement_breaks_nothing() {
    holds(System {
        stalls: 1,
        crashes: 1,
        lost: 1,
        ..System::default()
    });
}

#[test]
fn a_cancel_at_any_moment_breaks_nothing() {
    holds(System {
        stalls: 1,
        crashes: 1,
        cancels: 1,
        ..System::default()
    });
}

#[test]
fn without_fences_a_key_gets_two_values() {
    breaks(Without::Fences, "a key has one value");
}

#[test]
fn without_a_second_look_an_answer_is_slept_through() {
    breaks(Without::SecondLook, "no answer is left unread at rest");
}

#[test]
fn without_a_ledger_an_effect_runs_twice() {
    breaks(Without::Ledger, "an effect runs at most once");
}

#[track_caller]
fn holds(system: System) {
    system.checker().spawn_bfs().join().assert_properties();
}

#[track_caller]
fn breaks(without: Without, property: &'static str) {
    let system = System {
        without: Some(without),
        stalls: 2,
        crashes: 1,
        ..System::default()
    };
    let enough = HasDiscoveries::AnyOf([property].into());
    let checker = system.checker().finish_when(enough).spawn_bfs().join();
    checker.assert_any_discovery(property);
}
