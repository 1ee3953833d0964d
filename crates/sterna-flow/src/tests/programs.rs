//! How many programs, on which runtimes, and what happens when one fails.

use tokio::runtime::{Builder, Runtime};

use super::harness::{Case, Fault};
use super::program::{Node, generate};
use super::rng::Rng;
use super::{Mutant, live, round_trips};
use crate::Way;

#[test]
fn programs_do_what_the_oracle_says_without_a_runtime() {
    check_all(seeds(0, 2), None);
}

#[test]
fn programs_do_what_the_oracle_says_on_one_thread() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    check_all(seeds(1, 4), Some(&runtime));
}

#[test]
fn programs_do_what_the_oracle_says_on_many_threads() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    check_all(seeds(2, 4), Some(&runtime));
}

#[test]
fn a_driver_that_breaks_a_rule_is_caught() {
    for mutant in Mutant::ALL {
        let caught = (0..10_000).find(|seed| Sample::new(*seed).check(None, Some(mutant)).is_err());
        assert!(caught.is_some(), "{mutant:?} was not noticed");
    }
}

/// A share of all programs, `1 / parts` of them, from its own range of seeds.
fn seeds(range: u64, parts: u64) -> std::ops::Range<u64> {
    let number =
        |name| std::env::var_os(name).map(|value| value.to_str().unwrap().parse::<u64>().unwrap());
    let programs = number("STERNA_FLOW_PROGRAMS").unwrap_or(20_000);
    let first = number("STERNA_FLOW_SEED").unwrap_or(0) + (range << 40);
    first..first + programs / parts
}

fn check_all(seeds: std::ops::Range<u64>, runtime: Option<&Runtime>) {
    for seed in seeds {
        let sample = Sample::new(seed);
        if let Err(fault) = sample.check(runtime, None) {
            let (program, fault) = sample.shrink(fault, runtime);
            panic!("seed {seed}, {:?}: {fault}\n{program:#?}", sample.way);
        }
    }
}

/// What one seed stands for.
struct Sample {
    program: Node,
    way: Way,
    schedule: u64,
}

impl Sample {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let largest = if rng.chance(20) { 40 } else { 12 };
        let size = 3 + rng.below(largest);
        let ways = [Way::RoundTrips, Way::RoundTrips, Way::Task, Way::Legacy];
        let way = *rng.pick(&ways).unwrap();
        Self {
            program: generate(&mut rng, size),
            way,
            schedule: rng.next(),
        }
    }

    fn check(&self, runtime: Option<&Runtime>, mutant: Option<Mutant>) -> Result<(), Fault> {
        self.check_program(&self.program, runtime, mutant)
    }

    fn check_program(
        &self,
        program: &Node,
        runtime: Option<&Runtime>,
        mutant: Option<Mutant>,
    ) -> Result<(), Fault> {
        let case = Case {
            program,
            schedule: self.schedule,
            way: self.way,
            has_runtime: runtime.is_some(),
            mutant,
        };
        let checking = async {
            match self.way {
                Way::RoundTrips => round_trips::run(&case).await,
                Way::Legacy | Way::Task => live::run(&case).await,
            }
        };
        match runtime {
            Some(runtime) => runtime.block_on(checking),
            None => futures::executor::block_on(checking),
        }
    }

    /// The smallest program found that fails with the same schedule.
    fn shrink(&self, mut fault: Fault, runtime: Option<&Runtime>) -> (Node, Fault) {
        let mut program = self.program.clone();
        loop {
            let smaller = program.smaller().into_iter().find_map(|smaller| {
                let fault = self.check_program(&smaller, runtime, None).err()?;
                Some((smaller, fault))
            });
            match smaller {
                Some((smaller, smaller_fault)) => (program, fault) = (smaller, smaller_fault),
                None => return (program, fault),
            }
        }
    }
}
