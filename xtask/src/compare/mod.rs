//! The five servers of `examples/compare`, written with four SDKs: their lines
//! are counted, and each is called by the `sterna` command.

mod cases;
mod count;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::node::Node;
use crate::shell::{command, finish, target_dir, under_ci, works, workspace_root};

pub(crate) use count::update as count;

/// SDKs in the order of the table: the folder, the name, and the ending of a file.
const SDKS: [(&str, &str, &str); 4] = [
    ("sterna", "Sterna", "rs"),
    ("rmcp/src/bin", "rmcp 3.8.0", "rs"),
    ("fastmcp", "FastMCP 4.1.2", "py"),
    ("typescript", "TypeScript 2.4.0", "mjs"),
];

/// Builds and installs everything, and makes the calls of [`cases`].
pub(crate) fn run() -> Result<()> {
    let ours = [
        "build",
        "--locked",
        "--bins",
        "-p",
        "examples",
        "-p",
        "sterna-cli",
    ];
    finish(&mut command("cargo", &ours))?;
    let mut failures = Vec::new();
    for (sdk, name, ending) in SDKS {
        let Some(start) = install(sdk, ending)? else {
            continue;
        };
        for case in cases::CASES {
            match case.run(&start, sdk) {
                Ok(()) => println!("ok      {name}: {}", case.title()),
                Err(error) => {
                    println!("FAILED  {name}: {}: {error:#}", case.title());
                    failures.push(case.title());
                }
            }
        }
    }
    ensure!(failures.is_empty(), "{} call(s) failed", failures.len());
    Ok(())
}

/// Starts the server with a name.
type Start = Box<dyn Fn(&str) -> Command>;

/// Prepares the programs of an SDK. `None`: this machine cannot have it, and the
/// reader has been told.
fn install(sdk: &str, ending: &'static str) -> Result<Option<Start>> {
    let folder = workspace_root().join("examples/compare").join(sdk);
    Ok(match sdk {
        "sterna" => Some(Box::new(|server| {
            Command::new(target_dir().join(format!("debug/compare_{server}")))
        })),
        "rmcp/src/bin" => {
            let target = target_dir().join("compare/rmcp");
            let manifest = "examples/compare/rmcp/Cargo.toml";
            let build = ["build", "--quiet", "--locked", "--manifest-path", manifest];
            finish(command("cargo", &build).env("CARGO_TARGET_DIR", &target))?;
            Some(Box::new(move |server| {
                Command::new(target.join("debug").join(server))
            }))
        }
        "fastmcp" => python(folder)?.map(|(python, folder)| -> Start {
            Box::new(move |server| {
                let mut command = Command::new(&python);
                command
                    .arg("-B")
                    .arg(folder.join(format!("{server}.{ending}")));
                command
            })
        }),
        _ => Node::install("examples/compare/typescript", "compare/typescript")?
            .map(|node| -> Result<Start> {
                // Imports are looked up from where a script lies.
                for server in cases::SERVERS {
                    let script = format!("{server}.{ending}");
                    let source = folder.join(&script);
                    if source.exists() {
                        std::fs::copy(source, node.folder().join(&script))?;
                    }
                }
                let folder = node.folder().to_owned();
                Ok(Box::new(move |server| {
                    let mut command = Command::new("node");
                    command.arg(folder.join(format!("{server}.{ending}")));
                    command
                }))
            })
            .transpose()?,
    })
}

/// The interpreter of an environment with FastMCP, and the folder of the scripts.
fn python(folder: PathBuf) -> Result<Option<(PathBuf, PathBuf)>> {
    if !works("python3", &["-c", "import venv, ensurepip"]) {
        ensure!(!under_ci(), "python3 with venv is missing");
        println!("skipped: FastMCP, install python3 and its venv module");
        return Ok(None);
    }
    let environment = target_dir().join("compare/fastmcp");
    let pins = std::fs::read_to_string(folder.join("requirements.txt"))?;
    let (stamp, python) = (
        environment.join("installed.txt"),
        environment.join("bin/python"),
    );
    if !std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
        finish(command("python3", &["-m", "venv", "--clear"]).arg(&environment))?;
        finish(
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--no-deps", "-r"])
                .arg(folder.join("requirements.txt")),
        )?;
        std::fs::write(&stamp, pins)?;
    }
    Ok(Some((python, folder)))
}
