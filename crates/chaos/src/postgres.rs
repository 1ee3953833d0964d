//! A PostgreSQL server for one run.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// A server in a folder of its own, which goes with it.
pub(crate) struct Postgres {
    /// Stops the server and removes its folder when its input ends, which it
    /// does even when this process is killed.
    keeper: Child,
    folder: PathBuf,
    programs: PathBuf,
    /// The user to become: PostgreSQL refuses to run as root.
    user: Option<&'static str>,
}

impl Postgres {
    /// Starts one; nothing if this machine has none.
    pub(crate) fn start() -> Result<Option<Self>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        let uid = Command::new("id").arg("-u").output()?.stdout;
        let user = (uid.trim_ascii() == b"0").then_some("postgres");
        let folder = tempfile::Builder::new().prefix("sterna-chaos").tempdir()?;
        let folder = folder.keep();
        if let Some(user) = user {
            let owned = Command::new("chown").arg(user).arg(&folder).status()?;
            ensure!(owned.success(), "chown {user}");
        }
        let mut keeper = become_user(user, Path::new("sh"))
            .args(["-c", SCRIPT, "sh"])
            .arg(&folder)
            .arg(&programs)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let said = keeper.stdout.take().context("stdout was piped")?;
        BufReader::new(said).read_line(&mut line)?;
        ensure!(line == "ready\n", "PostgreSQL did not start");
        Ok(Some(Self {
            keeper,
            folder,
            programs,
            user,
        }))
    }

    /// How to reach it.
    pub(crate) fn connection(&self) -> String {
        format!("host={} user=sterna dbname=postgres", self.folder.display())
    }

    /// Stops it as a crash would, and starts it again.
    pub(crate) fn restart(&self) -> Result<()> {
        let restarted = become_user(self.user, &self.programs.join("pg_ctl"))
            .arg("-D")
            .arg(self.folder.join("data"))
            .arg("-l")
            .arg(self.folder.join("server.log"))
            .args(["-w", "-m", "immediate", "restart"])
            .current_dir("/")
            .stdout(Stdio::null())
            .status()?;
        ensure!(restarted.success(), "pg_ctl restart");
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // What it says after that helps nobody.
        let _ = self.keeper.wait();
    }
}

fn become_user(user: Option<&str>, program: &Path) -> Command {
    let Some(user) = user else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
    command.arg(program);
    command
}

/// The newest server that the machine has.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut packaged = Vec::new();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        packaged.extend(versions.flatten().map(|entry| entry.path().join("bin")));
        packaged.sort();
    }
    std::env::split_paths(&path)
        .chain(packaged.into_iter().rev())
        .find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
}

/// With `fsync`, because the server is stopped as by a crash.
const SCRIPT: &str = r#"
    cd "$1" || exit 1
    "$2"/initdb -D "$1/data" -U sterna -A trust -E UTF8 --locale=C --no-sync >init.log 2>&1 &&
    echo "listen_addresses = ''
          unix_socket_directories = '$1'
          max_connections = 100
          shared_buffers = 32MB" >>data/postgresql.conf &&
    "$2"/pg_ctl -D "$1/data" -w -l "$1/server.log" start >/dev/null &&
    echo ready
    read -r _
    "$2"/pg_ctl -D "$1/data" -w -m immediate stop >/dev/null 2>&1
    cd / && rm -rf "$1"
"#;
