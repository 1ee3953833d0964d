//! A whole run: start, break, rest, judge.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use postgres_here::Postgres;

use crate::client::{End, Kept, order};
use crate::dice::Dice;
use crate::effects::{Effect, now};
use crate::instance::Instances;
use crate::judge::History;
use crate::monkey::{Broken, rage};
use crate::table::Table;
use crate::{Flaw, Length, StoreKind};

/// Breaks things for a while and judges.
pub(crate) fn run(kind: StoreKind, shards: usize, length: Length) -> Result<()> {
    let seed = length.seed.unwrap_or_else(now);
    let folder = tempfile::tempdir()?;
    let mut postgres = Vec::new();
    if kind == StoreKind::Postgres {
        for _ in 0..shards {
            let Some(server) = Postgres::start("fsync = on")? else {
                ensure!(std::env::var_os("CI").is_none(), "missing: PostgreSQL");
                println!("skipped: chaos on PostgreSQL, install it");
                return Ok(());
            };
            postgres.push(server);
        }
    }
    let (count, stores): (_, Vec<_>) = match kind {
        StoreKind::Postgres => (3, postgres.iter().map(Postgres::connection).collect()),
        StoreKind::Sqlite => {
            let file = |number| folder.path().join(format!("tasks-{number}.db"));
            let file = |number| file(number).display().to_string();
            (1, (0..shards).map(file).collect())
        }
    };
    let fleet = Fleet {
        count,
        stores: &stores,
        postgres: &postgres,
        flaw: None,
    };
    let (kept, broken) = fleet.torment(folder.path(), length.seconds, seed)?;
    let kept = kept.with_context(|| format!("with the seed {seed}"))?;
    let ended = |wanted| kept.iter().filter(|kept| kept.end == wanted).count();
    println!(
        "chaos {kind:?}, {shards} of them: seed {seed}, {} kills, {} stops, {} restarts; {} tasks: {} paid, {} in doubt, {} cancelled",
        broken.kills,
        broken.stops,
        broken.restarts,
        kept.len(),
        ended(End::Paid),
        ended(End::Ambiguous),
        ended(End::Cancelled),
    );
    Ok(())
}

/// Instances that are going to be broken.
pub(crate) struct Fleet<'a> {
    pub(crate) count: usize,
    pub(crate) stores: &'a [String],
    /// The servers that are restarted, if it is PostgreSQL.
    pub(crate) postgres: &'a [Postgres],
    /// What is wrong with their engine, on purpose.
    pub(crate) flaw: Option<Flaw>,
}

impl Fleet<'_> {
    /// Breaks things for `seconds`, lets all come to rest and judges: what was
    /// kept, or what must not be; and what was broken.
    ///
    /// # Errors
    ///
    /// Things could not be broken as they should, so that nothing is proved.
    pub(crate) fn torment(
        &self,
        folder: &Path,
        seconds: u64,
        seed: u64,
    ) -> Result<(Result<Vec<Kept>>, Broken)> {
        let mut dice = Dice::new(seed);
        let file = folder.join("effects");
        let table = Table::of(&self.stores[0]);
        let runtime = tokio::runtime::Runtime::new()?;
        let instances = Instances::start(self.count, self.stores, &file, self.flaw)?;
        let numbers = AtomicU64::new(0);
        let end = Instant::now() + Duration::from_secs(seconds);
        let (kept, broken) = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|_| {
                    let dice = Dice::new(dice.roll());
                    let (instances, numbers) = (&instances, &numbers);
                    // Some orders fall into a time in which nothing breaks.
                    scope.spawn(move || order(instances, numbers, end + CALM, dice))
                })
                .collect();
            let broken = rage(&instances, self.postgres, end, &mut dice);
            let mut kept = Ok(Vec::new());
            for client in clients {
                let client = client.join().map_err(|_| anyhow!("a client broke down"))?;
                match (&mut kept, client) {
                    (Ok(kept), Ok(more)) => kept.extend(more),
                    (Ok(_), Err(error)) => kept = Err(error),
                    (Err(_), _) => {}
                }
            }
            anyhow::Ok((kept, broken?))
        })?;
        drop(instances);
        let kept = match kept {
            Ok(kept) => kept,
            Err(found) => return Ok((Err(found), broken)),
        };
        let history = History {
            kept: &kept,
            effects: &Effect::read_all(&file)?,
            rows: &runtime.block_on(table.ids())?,
            faults: &broken.faults,
        };
        let judged = history.judge();
        Ok((judged.map(|()| kept), broken))
    }
}

/// Enough that something is always in the middle.
const CLIENTS: u32 = 8;

/// How long orders go on after the last fault.
const CALM: Duration = Duration::from_secs(8);
