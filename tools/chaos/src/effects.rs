//! What instances did to the world.
//!
//! Every effect is noted twice: first as a line of a file, then as a row of a
//! table in the database, and the handler goes on when both are there. The file
//! is the harder witness. A line is one small write to a file opened for
//! appending, so it stays even if the process is killed or the database is gone
//! in that very moment, and a double effect shows up in it whatever becomes of
//! the transactions around. The table is the database's own word: a row that
//! was acknowledged and is missing, or one that no process can have written, is
//! a database that was not what it said.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use tokio::time::{Instant, sleep};

use crate::table::Table;

/// Where an instance notes what it does.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    file: PathBuf,
    table: Table,
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// What no other effect has, so that a repeated write is no second one.
    pub(crate) id: String,
    pub(crate) what: What,
    pub(crate) order: u64,
    /// The plan that was seen; nothing for the others.
    pub(crate) value: String,
    /// Who did it.
    pub(crate) process: u32,
    /// When, in milliseconds.
    pub(crate) at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A payment begins.
    Begin,
    /// A payment has been made and is about to be reported.
    End,
    /// The payment itself.
    Pay,
    /// A handler has seen this plan.
    Saw,
    /// A handler has seen the result of a step.
    Step,
}

impl Effects {
    pub(crate) fn new(file: PathBuf, table: Table) -> Self {
        Self { file, table }
    }

    pub(crate) async fn note(&self, what: What, order: u64, value: &str) -> Result<()> {
        let effect = Effect {
            id: unique(),
            what,
            order,
            value: value.to_owned(),
            process: std::process::id(),
            at: now(),
        };
        self.write(&effect)?;
        // It has happened: the row must follow, however long the database is away.
        let since = Instant::now();
        while let Err(error) = self.table.insert(&effect).await {
            ensure!(since.elapsed() < LONGEST, "no row for {effect:?}: {error}");
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Notes that a handler has seen the result of step `number`. No row: it is
    /// about when, and a row would take its time.
    pub(crate) fn saw_step(&self, order: u64, number: u32) -> Result<()> {
        self.write(&Effect {
            id: unique(),
            what: What::Step,
            order,
            value: number.to_string(),
            process: std::process::id(),
            at: now(),
        })
    }

    fn write(&self, effect: &Effect) -> Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)?;
        Ok(file.write_all(effect.write().as_bytes())?)
    }
}

impl Effect {
    fn write(&self) -> String {
        let Self {
            id,
            what,
            order,
            value,
            process,
            at,
        } = self;
        format!("{id} {} {order} {value} {process} {at}\n", what.as_str())
    }

    fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        Some(Self {
            id: words.next()?.to_owned(),
            what: What::parse(words.next()?)?,
            order: words.next()?.parse().ok()?,
            value: words.next()?.to_owned(),
            process: words.next()?.parse().ok()?,
            at: words.next()?.parse().ok()?,
        })
    }

    /// All lines of the file.
    pub(crate) fn read_all(path: &Path) -> Result<Vec<Self>> {
        let text = std::fs::read_to_string(path).context("nothing was done at all")?;
        let effects = text.lines().map(|line| {
            let effect = Self::read(line);
            effect.with_context(|| format!("an effect that nobody has: {line}"))
        });
        effects.collect()
    }
}

impl What {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::End => "end",
            Self::Pay => "pay",
            Self::Saw => "saw",
            Self::Step => "step",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let all = [Self::Begin, Self::End, Self::Pay, Self::Saw, Self::Step];
        all.into_iter().find(|what| what.as_str() == text)
    }
}

/// What no two calls in any process give.
pub(crate) fn unique() -> String {
    use std::hash::{BuildHasher, Hasher};
    let hasher = std::collections::hash_map::RandomState::new().build_hasher();
    format!("{:016x}-{}", hasher.finish(), std::process::id())
}

/// Milliseconds of the clock that all processes of the machine share.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Far more than a database takes to come back.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);
