//! A whole run: start, break, rest, judge.

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use postgres_here::{Cluster, Commits, Postgres};
use sterna_store::{Claimant, Effect as StoredEffect, EffectClaim, FlowId, Ledger as _, Name};
use sterna_store_postgres::PostgresStore;

use crate::client::{End, Kept, order};
use crate::dice::Dice;
use crate::effects::{Effect, now};
use crate::failover::{Failover, Report, take_away};
use crate::instance::{Defects, Instances};
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
        breaks: Breaks::Everything(&postgres),
        flaw: None,
    };
    let (kept, broken) = fleet.torment(folder.path(), length.seconds, seed)?;
    let kept = kept.with_context(|| format!("with the seed {seed}"))?;
    println!(
        "chaos {kind:?}, {shards} of them: seed {seed}, {broken}; {}",
        Tally(&kept)
    );
    Ok(())
}

/// Takes the primary of a cluster away for a while, beside all other faults, and
/// judges. With asynchronous standbys the judge must find what was lost.
pub(crate) fn fail_over(commits: Commits, length: Length) -> Result<()> {
    let seed = length.seed.unwrap_or_else(now);
    let Some(cluster) = Cluster::start(commits)? else {
        ensure!(
            std::env::var_os("CI").is_none(),
            "missing: PostgreSQL, Patroni or etcd"
        );
        println!("skipped: a failover, install postgresql, patroni and etcd-server");
        return Ok(());
    };
    let stores = [cluster.connection()];
    println!(
        "chaos failover: the database has {}",
        check(&stores[0], commits)?
    );
    let fleet = Fleet {
        count: 3,
        stores: &stores,
        breaks: Breaks::Primary(&cluster, commits),
        flaw: None,
    };
    let folder = tempfile::tempdir()?;
    let (kept, broken) = fleet.torment(folder.path(), length.seconds, seed)?;
    let effects = Effect::read_all(&folder.path().join("effects"))?;
    let report = Report {
        failovers: &broken.failovers,
        effects: &effects,
    };
    print!("chaos failover: seed {seed}, {broken}\n{report}");
    match (commits, kept) {
        (Commits::OnAStandby, kept) => {
            let kept = kept.with_context(|| format!("with the seed {seed}"))?;
            println!("nothing was lost; {}", Tally(&kept));
        }
        (Commits::OnItsOwnDisk, Err(found)) => println!("the loss is found: {found}"),
        (Commits::OnItsOwnDisk, Ok(kept)) => {
            anyhow::bail!("asynchronous standbys lost nothing; {}", Tally(&kept))
        }
    }
    Ok(())
}

/// What a store with the usual settings finds, and whether it refuses effects as
/// it must.
#[tokio::main]
async fn check(store: &str, commits: Commits) -> Result<String> {
    let store = PostgresStore::connect(sterna_store_postgres::Config::new(store)?).await?;
    let effect = StoredEffect::new(FlowId::from_bytes([7; 16]), Name::new("check")?);
    let wish = EffectClaim::new(Claimant::from_bytes([7; 16]), Duration::from_secs(60));
    let claimed = store.claim_once(effect, wish).await;
    let code = claimed.as_ref().err().and_then(sterna_store::Error::code);
    let expected = match commits {
        Commits::OnAStandby => None,
        Commits::OnItsOwnDisk => Some("MR0710"),
    };
    ensure!(code == expected, "claiming an effect became {claimed:?}");
    let refused = match commits {
        Commits::OnAStandby => "",
        Commits::OnItsOwnDisk => "; with the usual settings, effects are refused (MR0710)",
    };
    Ok(format!("{}{refused}", store.replication()))
}

/// What became of all orders.
struct Tally<'a>(&'a [Kept]);

impl fmt::Display for Tally<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = |wanted| self.0.iter().filter(|kept| kept.end == wanted).count();
        write!(
            f,
            "{} tasks: {} paid, {} in doubt, {} cancelled",
            self.0.len(),
            ended(End::Paid),
            ended(End::Ambiguous),
            ended(End::Cancelled),
        )
    }
}

/// Instances that are going to be broken.
pub(crate) struct Fleet<'a> {
    pub(crate) count: usize,
    pub(crate) stores: &'a [String],
    pub(crate) breaks: Breaks<'a>,
    /// What is wrong with their engine, on purpose.
    pub(crate) flaw: Option<Flaw>,
}

/// What is broken.
#[derive(Clone, Copy)]
pub(crate) enum Breaks<'a> {
    /// Instances, and the servers of PostgreSQL, which are restarted.
    Everything(&'a [Postgres]),
    /// Instances, and the primary of a cluster, which is taken away.
    Primary(&'a Cluster, Commits),
}

impl Breaks<'_> {
    /// Breaks things until `end`.
    fn rage(self, instances: &Instances, end: Instant, dice: &mut Dice) -> Result<Broken> {
        match self {
            Self::Everything(postgres) => rage(instances, postgres, end, dice),
            Self::Primary(cluster, _) => std::thread::scope(|scope| {
                let failing = scope.spawn(move || take_away(cluster, end));
                let broken = rage(instances, &[], end, dice);
                let failovers = failing
                    .join()
                    .map_err(|_| anyhow!("a thread broke down"))??;
                let mut broken = broken?;
                broken.faults.extend(failovers.iter().map(Failover::fault));
                broken.failovers = failovers;
                Ok(broken)
            }),
        }
    }
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
        let defects = Defects {
            flaw: self.flaw,
            may_repeat_effects: matches!(self.breaks, Breaks::Primary(_, Commits::OnItsOwnDisk)),
        };
        let instances = Instances::start(self.count, self.stores, &file, defects)?;
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
            let broken = self.breaks.rage(&instances, end, &mut dice);
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
