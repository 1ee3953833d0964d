use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A program that is an MCP server on its standard streams.
///
/// # Examples
///
/// ```
/// use sterna_client::Command;
///
/// let server = Command::new("my-server").arg("--stdio").env("LOG", "debug");
/// ```
#[derive(Clone)]
#[must_use]
pub struct Command {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) folder: Option<PathBuf>,
    pub(super) stderr: LineSink,
    pub(super) grace: Duration,
}

impl Command {
    /// Runs `program`, found as a shell would find it.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            folder: None,
            stderr: Arc::new(|line| tracing::info!(target: "sterna_client::stderr", "{line}")),
            grace: Duration::from_secs(2),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the child's environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let pair = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.env.push(pair);
        self
    }

    /// Runs in `folder`.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Hands on the standard error of the child, line by line,
    /// instead of to the log of this program.
    pub fn on_stderr(mut self, line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stderr = Arc::new(line);
        self
    }

    /// Sets the time that the child has to end after its input was closed, and
    /// again after a signal, before it is killed. Two seconds by default.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and environment often hold credentials.
        f.debug_struct("Command")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}
