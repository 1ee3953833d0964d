use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::processes;
use crate::programs::Programs;

/// A server that runs until it is dropped.
pub struct Postgres {
    /// Stops the server and removes its folder when its input ends, which it
    /// does even when this process is killed.
    keeper: Child,
    folder: PathBuf,
    programs: Programs,
    /// Its name as a standby.
    name: String,
}

impl Postgres {
    /// Starts a server with one more line in its configuration; `None` if this
    /// machine has no PostgreSQL.
    ///
    /// # Errors
    ///
    /// It has one that does not start.
    pub fn start(setting: &str) -> io::Result<Option<Self>> {
        let Some(programs) = Programs::find() else {
            return Ok(None);
        };
        Self::run(programs, INIT, setting).map(Some)
    }

    /// Starts a server that follows this one under the name `name`, by which
    /// `synchronous_standby_names` knows it.
    ///
    /// # Errors
    ///
    /// It does not start.
    pub fn standby(&self, name: &str) -> io::Result<Self> {
        let programs = Programs::find().ok_or_else(|| io::Error::other("PostgreSQL is gone"))?;
        let primary = self.folder.display();
        let mut standby = Self::run(programs, COPY, &format!("{primary}\n{name}"))?;
        standby.name = name.to_owned();
        Ok(standby)
    }

    /// Follows another server from here on, as a standby does when that is promoted.
    ///
    /// # Errors
    ///
    /// The server does not run.
    pub fn follow(&self, primary: &Self) -> io::Result<()> {
        let (folder, name) = (primary.folder.display(), &self.name);
        self.set(&format!(
            "primary_conninfo = 'host={folder} user=sterna application_name={name}'"
        ))
    }

    /// Adds a line to the configuration, and has the server read it.
    ///
    /// # Errors
    ///
    /// The server does not run.
    pub fn set(&self, setting: &str) -> io::Result<()> {
        let file = self.folder.join("data/postgresql.conf");
        let mut file = std::fs::OpenOptions::new().append(true).open(file)?;
        writeln!(file, "{setting}")?;
        self.control(&["reload"])
    }

    fn run(programs: Programs, make: &str, setting: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("sterna-pg").tempdir()?;
        let folder = folder.keep();
        programs.give(&folder)?;
        let settings = setting.splitn(2, '\n').map(OsStr::new);
        let args: Vec<_> = std::iter::once(programs.folder().as_os_str())
            .chain(settings)
            .collect();
        let script = format!("{make}{KEEP}");
        let keeper = programs.keep("PostgreSQL", &script, &folder, args)?;
        Ok(Self {
            keeper,
            folder,
            programs,
            name: String::new(),
        })
    }

    /// How to reach it.
    #[must_use]
    pub fn connection(&self) -> String {
        format!("host={} user=sterna dbname=postgres", self.folder.display())
    }

    /// The folder of its socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `pg_ctl` with `args` and waits until the server has done it.
    ///
    /// # Errors
    ///
    /// It has not.
    pub fn control(&self, args: &[&str]) -> io::Result<()> {
        let done = self
            .programs
            .command("pg_ctl")
            .arg("-D")
            .arg(self.folder.join("data"))
            .arg("-l")
            .arg(self.folder.join("server.log"))
            .args(args)
            .arg("-w")
            .current_dir("/")
            .stdout(Stdio::null())
            .status()?;
        match done.success() {
            true => Ok(()),
            false => Err(io::Error::other(format!("pg_ctl {args:?}"))),
        }
    }

    /// Sends a signal, such as `STOP`, to the server and to the processes that it
    /// started.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn signal(&self, signal: &str) -> io::Result<()> {
        processes::signal_server(&self.folder.join("data"), signal)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // One that was stopped by a signal would not hear that it is to end.
        let _ = self.signal("CONT");
        drop(self.keeper.stdin.take());
        // What it says after that helps nobody.
        let _ = self.keeper.wait();
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// Makes the files of a server in the folder `$1` with the programs in `$2` and the
/// setting `$3`.
const INIT: &str = r#"
    cd "$1" || exit 1
    "$2"/initdb -D "$1/data" -U sterna -A trust -E UTF8 --locale=C --no-sync >init.log 2>&1 &&
    echo "$3
          listen_addresses = ''
          unix_socket_directories = '$1'
          max_connections = 100
          shared_buffers = 32MB" >>data/postgresql.conf &&
"#;

/// Copies those of the server in the folder `$3`, to follow it under the name `$4`.
const COPY: &str = r#"
    cd "$1" || exit 1
    "$2"/pg_basebackup -h "$3" -U sterna -D "$1/data" -X stream -c fast --no-sync >init.log 2>&1 &&
    touch data/standby.signal &&
    echo "unix_socket_directories = '$1'
          primary_conninfo = 'host=$3 user=sterna application_name=$4'" >>data/postgresql.conf &&
"#;

/// Starts the server, and removes it when its input ends.
const KEEP: &str = r#"
    "$2"/pg_ctl -D "$1/data" -w -l "$1/server.log" start >/dev/null &&
    echo ready || echo failed
    read -r _
    "$2"/pg_ctl -D "$1/data" -w -m immediate stop >/dev/null 2>&1
    cd / && rm -rf "$1"
"#;
