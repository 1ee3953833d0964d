//! The official conformance suite against our own fixtures.
//!
//! The suite's exit code is lax (a dead port passes three scenarios), so the
//! verdict is read from the checks it writes.

mod server;
mod verdict;

use anyhow::Result;

use crate::node::Node;

pub(crate) fn run(scenario: Option<&str>) -> Result<()> {
    let Some(node) = Node::install("xtask/node", "node")? else {
        return Ok(());
    };
    server::run(&node, scenario)
}
