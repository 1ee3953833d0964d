//! The rules by which a run goes on, as a function of plain facts.

use crate::run::Way;

/// What a driver knows when its handler is pending and nothing has woken it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) way: Way,
    /// The last event may not have sunk in: its future has not reacted, or
    /// something outside the engine has just got hold of the handler's waker.
    pub(super) unsettled: bool,
    /// A future waits for an entry that the journal has.
    pub(super) tellable: bool,
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
    /// Somebody wants the flow to end.
    pub(super) cancel: bool,
    /// Somebody wants the flow to go elsewhere, and it may.
    pub(super) shed: bool,
}

/// How long the handler's own sleeps last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleeping {
    No,
    /// As long as a request can be held open.
    Shortly,
    TooLong,
}

/// Whether something outside the engine can still wake the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    No,
    /// It gets a little time.
    InGrace,
    /// It has had its time.
    Overdue,
}

/// What a driver does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// End the flow and compensate.
    Cancel,
    /// Let one future begin.
    Grant,
    /// Let another server go on.
    Shed,
    /// A sleep that no request can wait for.
    StopSleeping,
    /// Nothing can ever wake the handler.
    Stall,
    /// Ask the client.
    Suspend,
    /// Let one future take its entry, the oldest first.
    Tell,
    /// Wait to be woken.
    Wait,
    /// Let others run, then poll the handler once more.
    Yield,
}

/// One thing at a time, and only when the handler has come to rest.
///
/// What the handler sees is then a sequence of single entries, the same live
/// and in every replay: it is told of one, does all it can, and is told of the
/// next. The order of these rules is what keeps it so.
pub(super) fn decide(facts: &Facts) -> Move {
    let next = choose(facts);
    if facts.unsettled && matches!(next, Move::Tell | Move::Grant) {
        return Move::Yield;
    }
    next
}

fn choose(facts: &Facts) -> Move {
    // Everything that has happened comes before anything that might, in order.
    if facts.fetching {
        return Move::Wait;
    }
    if facts.tellable {
        return Move::Tell;
    }
    // Whoever is to end or to go elsewhere begins nothing, but finishes what it began.
    if facts.cancel || facts.shed {
        return match (facts.busy, facts.cancel) {
            (true, _) => Move::Wait,
            (false, true) => Move::Cancel,
            (false, false) => Move::Shed,
        };
    }
    if facts.startable {
        return Move::Grant;
    }
    if facts.busy {
        return Move::Wait;
    }
    match (facts.way, facts.asking, facts.sleeping, facts.foreign) {
        (Way::RoundTrips, true, _, Foreign::InGrace) => Move::Wait,
        (Way::RoundTrips, true, _, Foreign::No | Foreign::Overdue) => Move::Suspend,
        (Way::RoundTrips, false, Sleeping::TooLong, _) => Move::StopSleeping,
        (_, false, Sleeping::No, Foreign::No) => Move::Stall,
        _ => Move::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Facts = Facts {
        way: Way::RoundTrips,
        unsettled: false,
        tellable: false,
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
    fn check(change: impl Fn(&mut Facts), expected: Move) {
        let mut facts = QUIET;
        change(&mut facts);
        assert_eq!(decide(&facts), expected, "{facts:?}");
    }

    #[test]
    fn the_past_comes_before_the_present_and_the_present_before_questions() {
        check(
            |f| (f.tellable, f.startable, f.asking) = (true, true, true),
            Move::Tell,
        );
        check(
            |f| (f.fetching, f.tellable, f.startable) = (true, true, true),
            Move::Wait,
        );
        check(
            |f| (f.startable, f.busy, f.asking) = (true, true, true),
            Move::Grant,
        );
        check(|f| (f.busy, f.asking) = (true, true), Move::Wait);
        check(|f| f.asking = true, Move::Suspend);
    }

    #[test]
    fn an_event_that_has_not_sunk_in_holds_up_the_next_but_not_the_end() {
        check(|f| (f.unsettled, f.tellable) = (true, true), Move::Yield);
        check(|f| (f.unsettled, f.startable) = (true, true), Move::Yield);
        check(|f| (f.unsettled, f.asking) = (true, true), Move::Suspend);
    }

    #[test]
    fn ending_waits_for_what_runs_and_begins_nothing() {
        check(
            |f| (f.cancel, f.startable, f.busy) = (true, true, true),
            Move::Wait,
        );
        check(|f| (f.cancel, f.startable) = (true, true), Move::Cancel);
        check(|f| (f.cancel, f.shed) = (true, true), Move::Cancel);
        check(|f| (f.shed, f.startable) = (true, true), Move::Shed);
        check(|f| (f.shed, f.tellable) = (true, true), Move::Tell);
    }

    #[test]
    fn only_round_trips_suspend() {
        for way in [Way::Legacy, Way::Task] {
            check(|f| (f.way, f.asking) = (way, true), Move::Wait);
        }
        check(
            |f| (f.asking, f.foreign) = (true, Foreign::InGrace),
            Move::Wait,
        );
        check(
            |f| (f.asking, f.foreign) = (true, Foreign::Overdue),
            Move::Suspend,
        );
        check(
            |f| (f.asking, f.sleeping) = (true, Sleeping::TooLong),
            Move::Suspend,
        );
    }

    #[test]
    fn a_handler_that_nothing_can_wake_is_not_left_hanging() {
        check(|_| {}, Move::Stall);
        check(|f| f.foreign = Foreign::Overdue, Move::Wait);
        check(|f| f.sleeping = Sleeping::Shortly, Move::Wait);
        check(|f| f.sleeping = Sleeping::TooLong, Move::StopSleeping);
        check(
            |f| (f.way, f.sleeping) = (Way::Task, Sleeping::TooLong),
            Move::Wait,
        );
    }
}
