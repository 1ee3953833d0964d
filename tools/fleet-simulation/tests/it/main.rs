//! Hundreds of fleets, and fleets that are built wrong.
#![cfg(test)]

use fleet_simulation::{Fault, simulate};

/// Plays `seeds` and says how to see again what failed.
fn check(seeds: std::ops::Range<u64>) {
    let (mut ended, mut unclear) = (0, 0);
    let mut happened = [0; HAPPENINGS.len()];
    for seed in seeds {
        let report = simulate(seed, Fault::None);
        let violations = report.violations.join("\n");
        assert!(
            report.violations.is_empty(),
            "seed {seed}:\n{violations}\nreplay it: cargo run -p fleet-simulation -- --seed {seed}"
        );
        ended += report.ended;
        unclear += report.unclear;
        for (times, happening) in happened.iter_mut().zip(HAPPENINGS) {
            let is_there = report.log.iter().any(|line| line.contains(happening));
            *times += u32::from(is_there);
        }
    }
    // Or a promise would be kept in a fleet to which nothing happens.
    for (times, happening) in happened.into_iter().zip(HAPPENINGS) {
        assert!(times >= 10, "{happening} in {times} seeds");
    }
    // Or the rule that lets a disturbed order be unclear would excuse everything.
    assert!(unclear * 10 < ended, "{unclear} of {ended} are unclear");
}

#[test]
fn a_fleet_on_a_bad_network_keeps_its_promises() {
    check(0..SEEDS / 2);
}

#[test]
fn a_fleet_on_a_bad_network_keeps_its_promises_again() {
    check(SEEDS / 2..SEEDS);
}

#[test]
fn a_seed_tells_the_same_story_every_time() {
    for seed in [3, 14, 15] {
        let (once, again) = (simulate(seed, Fault::None), simulate(seed, Fault::None));
        assert_eq!(once.log, again.log, "seed {seed}");
    }
}

#[test]
fn the_judge_notices_a_fleet_that_is_built_wrong() {
    for (fault, complaint) in [
        (Fault::BindingOff, "a stranger used a state of"),
        (Fault::CrossedResponses, "is asked"),
        (Fault::KeptInMemory, "things where it should hold itself"),
        (Fault::KeyCutShort, "was refused"),
        (Fault::StoppedClock, "accepted a state of yesterday"),
        (Fault::UnsharedLedger, "was paid 2 times"),
        (Fault::WrongKey, "was refused"),
    ] {
        let caught = (0..60).any(|seed| {
            let violations = simulate(seed, fault).violations;
            violations.iter().any(|rule| rule.contains(complaint))
        });
        assert!(caught, "nobody noticed: {fault:?}");
    }
}

/// What must happen in many a seed, as the log says it: an instance cut off or
/// slow, gone and back, with the next keys and the next build; a message lost
/// or doubled; a clock further off than is allowed, and a client that met it.
const HAPPENINGS: [&str; 13] = [
    ": Partition(",
    ": Repair(",
    ": Hold(",
    ": Crash(",
    ": Restart(",
    ": Rotate(",
    ": Upgrade(",
    ": LoseRequest",
    ": LoseResponse",
    ": Twice",
    ": Echoed(",
    "beyond: Some(",
    ": a wrong clock",
];

/// What fits into half a minute of a debug build.
const SEEDS: u64 = 200;
