//! Numbers of programs, runtimes, and the report of a failure.

use tokio::runtime::{Builder, Runtime};

use super::harness::{Case, Fault};
use super::program::{Node, generate};
use super::rng::Rng;
use super::{live, round_trips};
use crate::ExecutionMode;

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
        if let Err(fault) = sample.check(runtime) {
            let (program, fault) = sample.shrink(fault, runtime);
            panic!("seed {seed}, {:?}: {fault}\n{program:#?}", sample.mode);
        }
    }
}

/// The program and the schedule of one seed.
struct Sample {
    program: Node,
    mode: ExecutionMode,
    schedule: u64,
}

impl Sample {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let largest = if rng.chance(20) { 40 } else { 12 };
        let size = 3 + rng.below(largest);
        let modes = [
            ExecutionMode::RoundTrips,
            ExecutionMode::RoundTrips,
            ExecutionMode::Task,
            ExecutionMode::Legacy,
        ];
        let mode = *rng.pick(&modes).unwrap();
        Self {
            program: generate(&mut rng, size),
            mode,
            schedule: rng.next(),
        }
    }

    fn check(&self, runtime: Option<&Runtime>) -> Result<(), Fault> {
        self.check_program(&self.program, runtime)
    }

    fn check_program(&self, program: &Node, runtime: Option<&Runtime>) -> Result<(), Fault> {
        let case = Case {
            program,
            schedule: self.schedule,
            mode: self.mode,
            has_runtime: runtime.is_some(),
        };
        let checking = async {
            match self.mode {
                ExecutionMode::RoundTrips => round_trips::run(&case).await,
                ExecutionMode::Legacy | ExecutionMode::Task => live::run(&case).await,
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
                let fault = self.check_program(&smaller, runtime).err()?;
                Some((smaller, fault))
            });
            match smaller {
                Some((smaller, smaller_fault)) => (program, fault) = (smaller, smaller_fault),
                None => return (program, fault),
            }
        }
    }
}
