use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where PostgreSQL's programs are, and who may run them.
pub(crate) struct Programs {
    folder: PathBuf,
    /// The user to become: PostgreSQL refuses to run as root.
    user: Option<&'static str>,
}

impl Programs {
    /// Those of the path, or else the newest that a package has installed.
    pub(crate) fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut packaged = Vec::new();
        if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
            packaged.extend(versions.flatten().map(|version| version.path().join("bin")));
            packaged.sort();
        }
        let complete = |folder: &PathBuf| {
            let programs = ["initdb", "pg_basebackup", "pg_ctl", "postgres"];
            programs
                .iter()
                .all(|program| folder.join(program).is_file())
        };
        let folder = std::env::split_paths(&path)
            .chain(packaged.into_iter().rev())
            .find(complete)?;
        let uid = Command::new("id").arg("-u").output().ok()?.stdout;
        let user = match uid.trim_ascii() {
            b"0" => Some(["postgres", "nobody"].into_iter().find(|user| {
                let known = Command::new("id").arg(user).output();
                known.is_ok_and(|known| known.status.success())
            })?),
            _ => None,
        };
        Some(Self { folder, user })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes `folder` that of whoever runs the programs.
    pub(crate) fn give(&self, folder: &Path) -> io::Result<()> {
        let Some(user) = self.user else {
            return Ok(());
        };
        let given = Command::new("chown").arg(user).arg(folder).status()?;
        match given.success() {
            true => Ok(()),
            false => Err(io::Error::other(format!("chown {user}"))),
        }
    }

    /// `program` of PostgreSQL, run by a user that it accepts.
    pub(crate) fn command(&self, program: &str) -> Command {
        self.as_user(self.folder.join(program).into())
    }

    /// Another program of the path, run by the same user.
    pub(crate) fn other(&self, program: &str) -> Command {
        self.as_user(program.into())
    }

    /// A script for the shell, with room for its arguments.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut shell = self.as_user("sh".into());
        shell.args(["-c", script, "sh"]);
        shell
    }

    /// Starts a script that keeps `server` running until its input ends, and waits
    /// until it says that the server is ready. Its first argument is `folder`.
    pub(crate) fn keep<A: AsRef<OsStr>>(
        &self,
        server: &str,
        script: &str,
        folder: &Path,
        args: impl IntoIterator<Item = A>,
    ) -> io::Result<Child> {
        let mut keeper = self
            .shell(script)
            .arg(folder)
            .args(args)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(said) = keeper.stdout.take() {
            BufReader::new(said).read_line(&mut line)?;
        }
        match line.as_str() {
            "ready\n" => Ok(keeper),
            _ => Err(io::Error::other(format!("{server} did not start"))),
        }
    }

    fn as_user(&self, program: OsString) -> Command {
        let Some(user) = self.user else {
            return Command::new(program);
        };
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
        command.arg(program);
        command
    }
}
