//! Who breaks things.

use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use postgres_here::Postgres;

use crate::dice::Dice;
use crate::effects::now;
use crate::failover::Failover;
use crate::instance::Instances;

/// Something that was broken, from when to when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// The process that was hit; all of them if it was the database.
    pub(crate) process: Option<u32>,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// What was broken, and how often.
#[derive(Debug, Default)]
pub(crate) struct Broken {
    pub(crate) kills: u32,
    pub(crate) stops: u32,
    pub(crate) restarts: u32,
    pub(crate) faults: Vec<Fault>,
    pub(crate) failovers: Vec<Failover>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kills,
            stops,
            restarts,
            ..
        } = self;
        write!(f, "{kills} kills, {stops} stops, {restarts} restarts")
    }
}

/// Breaks something every second or so until `end`, then leaves everything
/// running.
pub(crate) fn rage(
    instances: &Instances,
    postgres: &[Postgres],
    end: Instant,
    dice: &mut Dice,
) -> Result<Broken> {
    let mut broken = Broken::default();
    while Instant::now() < end {
        sleep(Duration::from_millis(300 + dice.roll() % 1200));
        let victim = dice.below(instances.count());
        let from = now();
        let process = match dice.below(6) {
            0 if !postgres.is_empty() => {
                // As a crash would.
                let server = &postgres[dice.below(postgres.len())];
                server.control(&["-m", "immediate", "restart"])?;
                broken.restarts += 1;
                None
            }
            1 | 2 if instances.count() > 1 => {
                let process = instances.signal(victim, "STOP")?;
                // Twice a lease: what it holds goes to others, who may then meet it again.
                sleep(Duration::from_secs(4));
                instances.signal(victim, "CONT")?;
                broken.stops += 1;
                Some(process)
            }
            _ => {
                broken.kills += 1;
                Some(instances.replace(victim)?)
            }
        };
        let to = now();
        broken.faults.push(Fault { process, from, to });
    }
    Ok(broken)
}
