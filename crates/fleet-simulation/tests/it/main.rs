//! Hundreds of fleets, and fleets that are built wrong.
#![cfg(test)]

use fleet_simulation::{Fault, simulate};

/// Plays `seeds` and says how to see again what failed.
fn check(seeds: std::ops::Range<u64>) {
    let (mut ended, mut unclear) = (0, 0);
    for seed in seeds {
        let report = simulate(seed, Fault::None);
        let violations = report.violations.join("\n");
        assert!(
            report.violations.is_empty(),
            "seed {seed}:\n{violations}\nreplay it: cargo run -p fleet-simulation -- --seed {seed}"
        );
        ended += report.ended;
        unclear += report.unclear;
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

/// What fits into half a minute of a debug build.
const SEEDS: u64 = 200;
