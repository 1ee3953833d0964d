//! The official conformance suite against our own fixtures.
//!
//! The suite's exit code is lax (a dead port passes three scenarios), so the
//! verdict is read from the checks it writes.

mod client;
mod server;
mod verdict;

use anyhow::Result;
use clap::ValueEnum;

use crate::node::Node;

/// What of ours the suite looks at.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Part {
    Client,
    Server,
}

pub(crate) fn run(part: Option<Part>, scenario: Option<&str>) -> Result<()> {
    let Some(node) = Node::install("xtask/node", "node")? else {
        return Ok(());
    };
    if part != Some(Part::Client) {
        server::run(&node, scenario)?;
    }
    if part != Some(Part::Server) {
        client::run(&node, scenario)?;
    }
    Ok(())
}
