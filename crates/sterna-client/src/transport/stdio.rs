//! A server that runs as a child process.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio as Pipe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use sterna_protocol::lines;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::task::JoinSet;

use super::{Exchange, Lines, Outgoing, Transport};
use crate::error::{Error, Fault};
use crate::oauth::BoxFuture;

type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

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
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    stderr: LineSink,
    grace: Duration,
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

    /// Hands on what the child writes to its standard error, line by line,
    /// instead of to the log of this program.
    pub fn on_stderr(mut self, line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stderr = Arc::new(line);
        self
    }

    /// How long the child has to end after its input was closed, before it is
    /// killed; two seconds unless told otherwise.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    fn spawn(&self, max_message: usize) -> Result<Running, Error> {
        let mut command = tokio::process::Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            .kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(Fault::Child)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::Closed.into());
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(forward(stderr, self.stderr.clone()));
        Ok(Running {
            lines: Arc::new(Lines::new(String::new(), stdout, stdin, max_message)),
            child,
            _stderr: tasks,
        })
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

/// The child, started again when it died (STDIO-C6).
#[derive(Debug)]
pub(crate) struct Stdio {
    command: Command,
    place: String,
    max_message: usize,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    lines: Arc<Lines>,
    child: Child,
    _stderr: JoinSet<()>,
}

impl Stdio {
    pub(crate) fn new(command: Command, max_message: usize) -> Result<Self, Error> {
        let running = command.spawn(max_message)?;
        Ok(Self {
            place: command.program.to_string_lossy().into_owned(),
            command,
            max_message,
            running: Mutex::new(Some(running)),
        })
    }

    fn lines(&self) -> Result<Arc<Lines>, Error> {
        let mut running = self.lock();
        let child = running.as_mut().ok_or(Fault::Closed)?;
        if child.lines.is_closed() {
            *child = self.command.spawn(self.max_message)?;
        }
        Ok(child.lines.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Stdio {
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>> {
        Box::pin(async move { self.lines()?.request(request).await })
    }

    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.lines()?.tell(message).await })
    }

    fn overhear(&self, headers: HeaderMap) -> BoxFuture<'_, Result<Option<Exchange>, Error>> {
        Box::pin(async move { self.lines()?.overhear(headers).await })
    }

    fn close(&self, _: HeaderMap) -> BoxFuture<'_, ()> {
        let running = self.lock().take();
        Box::pin(async move {
            let Some(mut running) = running else {
                return;
            };
            // STDIO-C5: the end of its input is the sign to leave.
            running.lines.hang_up();
            let left = tokio::time::timeout(self.command.grace, running.child.wait()).await;
            if left.is_err() {
                running.child.kill().await.ok();
            }
        })
    }

    fn has_headers(&self) -> bool {
        false
    }

    fn place(&self) -> &str {
        &self.place
    }
}

async fn forward(mut stderr: impl AsyncRead + Unpin, sink: LineSink) {
    let mut reader = lines::Reader::new(LONGEST_LINE);
    let mut buffer = vec![0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut chunk = &buffer[..read];
        loop {
            match reader.read(&mut chunk) {
                Ok(Some(line)) => sink(&String::from_utf8_lossy(line)),
                Ok(None) => break,
                Err(_) => {}
            }
        }
    }
    if !reader.rest().is_empty() {
        sink(&String::from_utf8_lossy(reader.rest()));
    }
}

/// A longer line on standard error is skipped.
const LONGEST_LINE: usize = 64 * 1024;
