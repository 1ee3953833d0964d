//! The server process: its start, its standard error, its end.

use std::collections::VecDeque;
use std::io;
use std::process::Stdio as Pipe;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use sterna_protocol::lines;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

use super::super::Lines;
use super::command::{Command, LineSink};
use crate::error::{Error, Fault, LastOutput, printable};

/// A child and the lines to and from it; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) lines: Arc<Lines>,
    child: Arc<Mutex<Child>>,
    last_lines: Arc<LastLines>,
    stderr: JoinSet<()>,
}

impl Running {
    pub(super) fn start(command: &Command, max_message: usize) -> Result<Self, Error> {
        let mut child = tokio::process::Command::new(&command.program);
        child
            .args(&command.args)
            .envs(command.env.iter().map(|(name, value)| (name, value)))
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            .kill_on_drop(true);
        if let Some(folder) = &command.folder {
            child.current_dir(folder);
        }
        let mut child = child.spawn().map_err(|error| {
            let program = printable(&command.program.to_string_lossy());
            Fault::Child(io::Error::new(
                error.kind(),
                format!("`{program}`: {error}"),
            ))
        })?;
        let (Some(stdin), Some(stdout), Some(aside)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::Closed.into());
        };
        let last_lines = Arc::new(LastLines::default());
        let mut stderr = JoinSet::new();
        let sink = command.stderr.clone();
        stderr.spawn(forward(aside, sink, last_lines.clone()));
        Ok(Self {
            lines: Arc::new(Lines::new(String::new(), stdout, stdin, max_message)),
            child: Arc::new(Mutex::new(child)),
            last_lines,
            stderr,
        })
    }

    /// A witness who can tell how the child ended.
    pub(super) fn witness(&self) -> Witness {
        Witness {
            child: Arc::downgrade(&self.child),
            last_lines: self.last_lines.clone(),
        }
    }

    /// STDIO-C5: the end of its input is the sign to leave; one that does not
    /// see it is told by a signal, and one that does not care is killed.
    pub(super) async fn leave(mut self, grace: Duration) {
        self.lines.disconnect();
        let mut child = self.child.lock().await;
        let left = leaves_within(&mut child, grace).await
            || (signal(&child) && leaves_within(&mut child, grace).await);
        if !left {
            child.kill().await.ok();
        }
        // A grandchild may hold the pipe open for ever.
        let last_output = self.stderr.join_next();
        tokio::time::timeout(LAST_WORDS, last_output).await.ok();
    }
}

async fn leaves_within(child: &mut Child, grace: Duration) -> bool {
    let left = tokio::time::timeout(grace, child.wait()).await;
    left.is_ok()
}

/// Tells how a child ended, to requests that wait for its answer. It does not
/// keep the child alive.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    child: Weak<Mutex<Child>>,
    last_lines: Arc<LastLines>,
}

impl Witness {
    /// Says more of an error, if the reason is that the child has ended.
    pub(super) async fn explain(&self, error: Error) -> Error {
        match error.fault() {
            Fault::Closed => self.report().await.unwrap_or(error),
            _ => error,
        }
    }

    async fn report(&self) -> Option<Error> {
        let child = self.child.upgrade()?;
        let ended = async { child.lock().await.wait().await };
        let status = tokio::time::timeout(LAST_WORDS, ended).await.ok()?.ok()?;
        let lines = self.last_lines.read().await;
        let last_output = (!lines.is_empty()).then(|| LastOutput(lines.join(" | ")));
        let how = status.to_string();
        Some(Fault::Died { how, last_output }.into())
    }
}

/// The last lines that a child has written to its standard error.
#[derive(Debug)]
struct LastLines {
    lines: std::sync::Mutex<VecDeque<String>>,
    ended: watch::Sender<bool>,
}

impl Default for LastLines {
    fn default() -> Self {
        Self {
            lines: std::sync::Mutex::default(),
            ended: watch::Sender::new(false),
        }
    }
}

impl LastLines {
    fn push(&self, line: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MOST_LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(printable(line.trim_end()));
    }

    /// The lines, once the child has closed its standard error or had the time to.
    async fn read(&self) -> Vec<String> {
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(|&ended| ended);
        // A grandchild may hold the pipe open for ever.
        tokio::time::timeout(LAST_WORDS, ended).await.ok();
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }
}

/// Tells a child to end; whether that can be done here.
#[cfg(unix)]
fn signal(child: &Child) -> bool {
    use rustix::process::{Pid, Signal, kill_process};

    // Until the child has been waited for, no other process has its id.
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    id.and_then(Pid::from_raw)
        .is_some_and(|id| kill_process(id, Signal::TERM).is_ok())
}

#[cfg(not(unix))]
fn signal(_: &Child) -> bool {
    false
}

async fn forward(mut stderr: impl AsyncRead + Unpin, sink: LineSink, last_lines: Arc<LastLines>) {
    let show = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        last_lines.push(&line);
        sink(&line);
    };
    let mut reader = lines::LineReader::new(LONGEST_LINE);
    let mut buffer = vec![0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut chunk = &buffer[..read];
        loop {
            match reader.read(&mut chunk) {
                Ok(Some(line)) => show(line),
                Ok(None) => break,
                Err(_) => {}
            }
        }
    }
    if !reader.rest().is_empty() {
        show(reader.rest());
    }
    last_lines.ended.send_replace(true);
}

/// A longer line on standard error is skipped.
const LONGEST_LINE: usize = 64 * 1024;

/// Longest wait for the exit of a child and its last output.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Lines of standard error that are kept for the error of a child that ended.
const MOST_LAST_LINES: usize = 5;
