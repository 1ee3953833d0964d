//! Whole tasks beside those of other engines, on one machine in one run.

mod counters;
mod engine;
mod load;
mod others;
mod ours;
mod table;

use anyhow::Result;
use postgres_here::Postgres;

use counters::Counters;
use engine::Engine;
use load::{Kind, Load};
use others::{Command, Other};
use ours::Ours;
use table::Row;

use crate::place::Place;

/// Settings of a comparison.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Numbers of callers
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    callers: Vec<u32>,
    /// Seconds of one load
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// How often each load is repeated
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Print what our statements took on PostgreSQL
    #[arg(long)]
    statements: bool,
    /// Another engine, as `name=command`. `{database}` in it stands for the URL of
    /// an empty database, `{folder}` for an empty folder
    #[arg(long = "engine")]
    engines: Vec<Command>,
}

/// Runs every load on one engine after the other, so that a change of the machine
/// concerns all of them, and prints a table.
pub(crate) async fn measure(args: &Args) -> Result<()> {
    let Some(server) = Postgres::start("fsync = on")? else {
        println!("skipped: PostgreSQL, install it");
        return Ok(());
    };
    let counters = Counters::start(&server).await?;
    let folder = tempfile::tempdir()?;
    let mut engines = vec![
        Engine::new(
            "bare commit",
            Some("bare"),
            counters.create("bare").await?.into(),
        ),
        Engine::new("sterna, PostgreSQL", Some("sterna"), {
            let place = Place {
                store: counters.create("sterna").await?,
                schema: Some("sterna".to_owned()),
            };
            Ours::start(&place).await?.into()
        }),
        Engine::new("sterna, SQLite", None, {
            let file = folder.path().join("sterna.db");
            let place = Place {
                store: file.display().to_string(),
                schema: None,
            };
            Ours::start(&place).await?.into()
        }),
    ];
    for command in &args.engines {
        let database = match command.needs_database() {
            true => Some(counters.create(&command.name).await?),
            false => None,
        };
        let counted = database.is_some().then_some(&*command.name);
        let other = Other::start(command, &server, database.as_deref(), folder.path())?;
        engines.push(Engine::new(&command.name, counted, other.into()));
    }
    // What an engine prepares with its first tasks is measured for none.
    for engine in &mut engines {
        engine.run(Load::new(Kind::Step, 16, 1)).await?;
    }
    let mut rows = Vec::new();
    for kind in [Kind::Step, Kind::Ask] {
        for &callers in &args.callers {
            if kind == Kind::Ask && callers != ASKING {
                continue;
            }
            let load = Load::new(kind, callers, args.seconds);
            rows.extend(interleaved(&mut engines, &counters, load, args.rounds).await?);
        }
    }
    table::print(&rows, args.rounds);
    match args.statements {
        true => counters.print_statements("sterna").await,
        false => Ok(()),
    }
}

/// Runs `load` on each engine that knows it, `rounds` times.
async fn interleaved(
    engines: &mut [Engine],
    counters: &Counters,
    load: Load,
    rounds: u32,
) -> Result<Vec<Row>> {
    let known = engines.iter_mut().filter(|engine| engine.knows(load.kind));
    let mut rows: Vec<_> = known
        .map(|engine| (Row::new(engine, load), engine))
        .collect();
    for _ in 0..rounds {
        for (row, engine) in &mut rows {
            let before = counters.read(engine.database()).await?;
            let loaded = engine.run(load).await?;
            let after = counters.read(engine.database()).await?;
            row.add(
                loaded,
                after.zip(before).map(|(after, before)| after - before),
            );
        }
    }
    Ok(rows.into_iter().map(|(row, _)| row).collect())
}

/// Callers of the load that measures continuations.
const ASKING: u32 = 16;
