//! Our server and our client against those of other SDKs.
//!
//! Every pair runs the same cases in one process; a table says how each ended,
//! and a failed case shows the bytes that went over the wire.

mod carried;
mod cases;
mod command;
mod differences;
mod everything;
mod hosts;
mod inspector;
mod older;
mod pair;
mod peer;
mod resumed;
mod table;
mod tap;

use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::shell::{command, finish, target_dir};
use pair::Pair;
use peer::Peer;
use table::Table;

/// What the other SDK's programs are.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Client and server: shows that their programs keep the contract, so that
    /// a failure elsewhere is not theirs.
    Both,
    /// The client, against our server.
    Client,
    /// The server, against the `sterna` command.
    Commanded,
    /// The server, against the pages of the inspector.
    Inspected,
    /// The server, against our client.
    Server,
}

impl Role {
    const ALL: [Self; 5] = [
        Self::Both,
        Self::Client,
        Self::Server,
        Self::Commanded,
        Self::Inspected,
    ];

    const fn title(self) -> &'static str {
        match self {
            Self::Both => "their clients against their own servers",
            Self::Client => "their clients against our server",
            Self::Commanded => "the sterna command against their servers",
            Self::Inspected => "the inspector against their servers",
            Self::Server => "our client against their servers",
        }
    }
}

/// Which wire the client is told to speak.
#[derive(Clone, Copy, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

impl Era {
    const ALL: [Self; 2] = [Self::Modern, Self::Legacy];

    /// The word that the clients' programs understand.
    const fn word(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

pub(crate) fn run(only: Option<&str>) -> Result<()> {
    if only == Some("hosts") {
        return hosts();
    }
    if only == Some("gateway") {
        return gateway();
    }
    if let Some(only) = only {
        ensure!(
            peer::NAMES.contains(&only),
            "{only} is none of gateway, hosts, {}",
            peer::NAMES.join(", ")
        );
    }
    let mut peers = Vec::new();
    for name in peer::NAMES {
        if only.is_none_or(|only| only == name) {
            peers.extend(Peer::install(name)?);
        }
    }
    build_ours()?;
    let script = cases::read()?;
    let mut failed = 0;
    for role in Role::ALL {
        let mut cases = script.cases.clone();
        let is_command = matches!(role, Role::Commanded | Role::Inspected);
        cases.retain(|case| !is_command || case.is_for_the_command());
        let mut table = Table::new(&cases);
        for era in Era::ALL {
            for peer in &peers {
                let pair = Pair { peer, role, era };
                let cells = match role {
                    Role::Commanded => {
                        pair.run_commands(&cases, &script.answers.fields, command::run)?
                    }
                    Role::Inspected => {
                        pair.run_commands(&cases, &script.answers.fields, inspector::run)?
                    }
                    _ => pair.run(&cases)?,
                };
                table.add(&pair, &cells);
            }
        }
        table.print(role);
        failed += table.failures();
    }
    if only.is_none_or(|only| only == "typescript") {
        everything::run()?;
        hosts::run()?;
        resumed::with_everything()?;
        carried::with_everything()?;
    }
    if only.is_none_or(|only| only == "python") {
        resumed::with_fastmcp()?;
        carried::with_fastmcp()?;
    }
    if failed > 0 {
        bail!("{failed} case(s) of interop failed");
    }
    Ok(())
}

/// Has a client of another SDK start our server by what `sterna install` writes.
pub(crate) fn hosts() -> Result<()> {
    build_ours()?;
    hosts::run()
}

/// Has older servers called through replicas of the gateway that are killed.
fn gateway() -> Result<()> {
    finish(&mut command(
        "cargo",
        &["build", "--locked", "--package", "sterna-cli"],
    ))?;
    carried::with_everything()?;
    carried::with_fastmcp()
}

fn build_ours() -> Result<()> {
    let build = ["build", "--locked", "--package", "examples"];
    finish(command("cargo", &build).args(["--package", "sterna-cli"]))
}

/// Our own server with the contract.
fn our_server() -> Command {
    Command::new(target_dir().join("debug/interop"))
}

/// Our own client that runs the cases.
fn our_client() -> Command {
    Command::new(target_dir().join("debug/interop_client"))
}
