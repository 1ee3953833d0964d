//! Who breaks things.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::dice::Dice;
use crate::instance::Instances;
use crate::postgres::Postgres;

/// What was broken, and how often.
#[derive(Debug, Default)]
pub(crate) struct Broken {
    kills: u32,
    stops: u32,
    restarts: u32,
}

/// Breaks something every second or so until `end`, then leaves everything
/// running.
pub(crate) fn rage(
    instances: &Instances,
    postgres: Option<&Postgres>,
    end: Instant,
    dice: &mut Dice,
) -> Result<Broken> {
    let mut broken = Broken::default();
    while Instant::now() < end {
        sleep(Duration::from_millis(300 + dice.roll() % 1200));
        let victim = dice.below(instances.count());
        match (dice.below(6), postgres) {
            (0, Some(postgres)) => {
                postgres.restart()?;
                broken.restarts += 1;
            }
            (1 | 2, _) if instances.count() > 1 => {
                instances.signal(victim, "STOP")?;
                // Twice a lease: what it holds goes to others, who may then meet it again.
                sleep(Duration::from_secs(4));
                instances.signal(victim, "CONT")?;
                broken.stops += 1;
            }
            _ => {
                instances.replace(victim)?;
                broken.kills += 1;
            }
        }
    }
    Ok(broken)
}
