//! A whole run: start, break, rest, judge.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, ensure};

use crate::StoreKind;
use crate::client::{End, Kept, order};
use crate::dice::Dice;
use crate::effects::Done;
use crate::instance::Instances;
use crate::monkey::rage;
use crate::postgres::Postgres;

/// Breaks things for `seconds` and judges.
pub(crate) fn run(store: StoreKind, seconds: u64, seed: Option<u64>) -> Result<()> {
    let seed = match seed {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    let mut dice = Dice::new(seed);
    let folder = tempfile::tempdir()?;
    let effects = folder.path().join("effects");
    let postgres = match store {
        StoreKind::Sqlite => None,
        StoreKind::Postgres => match Postgres::start()? {
            Some(postgres) => Some(postgres),
            None => {
                ensure!(std::env::var_os("CI").is_none(), "missing: PostgreSQL");
                println!("skipped: chaos on PostgreSQL, install it");
                return Ok(());
            }
        },
    };
    let (count, connection) = match &postgres {
        Some(postgres) => (3, postgres.connection()),
        None => (1, folder.path().join("tasks.db").display().to_string()),
    };
    let instances = Instances::start(count, &connection, &effects)?;
    let numbers = AtomicU64::new(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (kept, broken) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let dice = Dice::new(dice.roll());
                let (instances, numbers) = (&instances, &numbers);
                scope.spawn(move || order(instances, numbers, end, dice))
            })
            .collect();
        let broken = rage(&instances, postgres.as_ref(), end, &mut dice);
        let mut kept = Vec::new();
        for client in clients {
            kept.extend(
                client
                    .join()
                    .map_err(|_| anyhow!("a client broke down"))??,
            );
        }
        anyhow::Ok((kept, broken?))
    })
    .with_context(|| format!("with the seed {seed}"))?;
    let done = Done::read(&effects)?;
    judge(&kept, &done).with_context(|| format!("with the seed {seed}"))?;
    let ended = |wanted| kept.iter().filter(|kept| kept.end == wanted).count();
    println!(
        "chaos {store:?}: seed {seed}, {broken:?}; {} tasks: {} paid, {} ambiguous, {} cancelled",
        kept.len(),
        ended(End::Paid),
        ended(End::Ambiguous),
        ended(End::Cancelled),
    );
    Ok(())
}

/// What must be true of the world when everything has come to rest. That every
/// acknowledged task has ended, and with the acknowledged answer, its client
/// has seen to.
fn judge(kept: &[Kept], done: &Done) -> Result<()> {
    ensure!(!kept.is_empty(), "not one order came through");
    for (number, times) in &done.payments {
        ensure!(*times <= 1, "order {number} was paid {times} times");
    }
    for (number, plans) in &done.plans {
        ensure!(plans.len() == 1, "order {number} was seen with {plans:?}");
    }
    for Kept { number, end } in kept {
        let payments = done.payments.get(number).copied().unwrap_or(0);
        match end {
            End::Paid => ensure!(payments == 1, "order {number} was paid {payments} times"),
            End::Cancelled => ensure!(payments == 0, "order {number} was cancelled and paid"),
            // It may have happened and may not: nobody knows, and nobody says otherwise.
            End::Ambiguous => {}
        }
    }
    Ok(())
}

/// Enough that something is always in the middle.
const CLIENTS: u32 = 8;
