//! The rules by which a run goes on, as a function of plain facts.

use crate::run::ExecutionMode;

/// The state that a driver sees when its handler is pending and was not woken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) mode: ExecutionMode,
    /// The handler has not yet reacted to the last event: its future did not, or
    /// something outside the engine has just got hold of the handler's waker.
    pub(super) unsettled: bool,
    /// A future waits for an entry that the journal has.
    pub(super) deliverable: bool,
    /// A future waits for an entry whose blob is on its way.
    pub(super) fetching: bool,
    /// A future waits for permission to begin.
    pub(super) startable: bool,
    /// Bodies run, or entries are being written.
    pub(super) busy: bool,
    /// Questions are open.
    pub(super) asking: bool,
    pub(super) sleeping: Sleeping,
    pub(super) foreign: Foreign,
    /// The owner of the run has cancelled it.
    pub(super) cancel: bool,
    /// The owner of the run wants to shed it, and it may be shed.
    pub(super) shed: bool,
}

/// The state of the handler's own sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleeping {
    No,
    /// As long as a request can be held open.
    Shortly,
    TooLong,
}

/// The futures outside the engine that can still wake the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    No,
    /// It gets a little time.
    InGrace,
    /// It has had its time.
    Overdue,
}

/// The next action of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// End the flow and compensate.
    Cancel,
    /// Let one future begin.
    Start,
    /// Let another server go on.
    Shed,
    /// A sleep that no request can wait for.
    StopSleeping,
    /// Nothing can ever wake the handler.
    Stall,
    /// Ask the client.
    Suspend,
    /// Let one future take its entry, the oldest first.
    Deliver,
    /// Wait to be woken.
    Wait,
    /// Let others run, then poll the handler once more.
    Yield,
}

/// One thing at a time, and only when the handler has come to rest.
///
/// The handler then sees a sequence of single entries, the same live
/// and in every replay: it is told of one, does all it can, and is told of the
/// next. The order of these rules is what keeps it so.
pub(super) fn decide(facts: &Facts) -> Action {
    let next = choose(facts);
    if facts.unsettled && matches!(next, Action::Deliver | Action::Start) {
        return Action::Yield;
    }
    next
}

fn choose(facts: &Facts) -> Action {
    // Everything that has happened comes before anything that might, in order.
    if facts.fetching {
        return Action::Wait;
    }
    if facts.deliverable {
        return Action::Deliver;
    }
    // A run that is to end or to move elsewhere begins nothing, but finishes what it
    // began.
    if facts.cancel || facts.shed {
        return match (facts.busy, facts.cancel) {
            (true, _) => Action::Wait,
            (false, true) => Action::Cancel,
            (false, false) => Action::Shed,
        };
    }
    if facts.startable {
        return Action::Start;
    }
    if facts.busy {
        return Action::Wait;
    }
    match (facts.mode, facts.asking, facts.sleeping, facts.foreign) {
        (ExecutionMode::RoundTrips, true, _, Foreign::InGrace) => Action::Wait,
        (ExecutionMode::RoundTrips, true, _, Foreign::No | Foreign::Overdue) => Action::Suspend,
        (ExecutionMode::RoundTrips, false, Sleeping::TooLong, _) => Action::StopSleeping,
        (_, false, Sleeping::No, Foreign::No) => Action::Stall,
        _ => Action::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Facts = Facts {
        mode: ExecutionMode::RoundTrips,
        unsettled: false,
        deliverable: false,
        fetching: false,
        startable: false,
        busy: false,
        asking: false,
        sleeping: Sleeping::No,
        foreign: Foreign::No,
        cancel: false,
        shed: false,
    };

    #[track_caller]
    fn check(change: impl Fn(&mut Facts), expected: Action) {
        let mut facts = QUIET;
        change(&mut facts);
        assert_eq!(decide(&facts), expected, "{facts:?}");
    }

    #[test]
    fn the_past_comes_before_the_present_and_the_present_before_questions() {
        check(
            |f| (f.deliverable, f.startable, f.asking) = (true, true, true),
            Action::Deliver,
        );
        check(
            |f| (f.fetching, f.deliverable, f.startable) = (true, true, true),
            Action::Wait,
        );
        check(
            |f| (f.startable, f.busy, f.asking) = (true, true, true),
            Action::Start,
        );
        check(|f| (f.busy, f.asking) = (true, true), Action::Wait);
        check(|f| f.asking = true, Action::Suspend);
    }

    #[test]
    fn an_event_that_has_not_sunk_in_holds_up_the_next_but_not_the_end() {
        check(
            |f| (f.unsettled, f.deliverable) = (true, true),
            Action::Yield,
        );
        check(|f| (f.unsettled, f.startable) = (true, true), Action::Yield);
        check(|f| (f.unsettled, f.asking) = (true, true), Action::Suspend);
    }

    #[test]
    fn ending_waits_for_what_runs_and_begins_nothing() {
        check(
            |f| (f.cancel, f.startable, f.busy) = (true, true, true),
            Action::Wait,
        );
        check(|f| (f.cancel, f.startable) = (true, true), Action::Cancel);
        check(|f| (f.cancel, f.shed) = (true, true), Action::Cancel);
        check(|f| (f.shed, f.startable) = (true, true), Action::Shed);
        check(|f| (f.shed, f.deliverable) = (true, true), Action::Deliver);
    }

    #[test]
    fn only_round_trips_suspend() {
        for mode in [ExecutionMode::Legacy, ExecutionMode::Task] {
            check(|f| (f.mode, f.asking) = (mode, true), Action::Wait);
        }
        check(
            |f| (f.asking, f.foreign) = (true, Foreign::InGrace),
            Action::Wait,
        );
        check(
            |f| (f.asking, f.foreign) = (true, Foreign::Overdue),
            Action::Suspend,
        );
        check(
            |f| (f.asking, f.sleeping) = (true, Sleeping::TooLong),
            Action::Suspend,
        );
    }

    #[test]
    fn a_handler_that_nothing_can_wake_is_not_left_hanging() {
        check(|_| {}, Action::Stall);
        check(|f| f.foreign = Foreign::Overdue, Action::Wait);
        check(|f| f.sleeping = Sleeping::Shortly, Action::Wait);
        check(|f| f.sleeping = Sleeping::TooLong, Action::StopSleeping);
        check(
            |f| (f.mode, f.sleeping) = (ExecutionMode::Task, Sleeping::TooLong),
            Action::Wait,
        );
    }
}
