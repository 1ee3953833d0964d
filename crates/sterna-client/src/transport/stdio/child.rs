//! One life of the child: how it starts, what it says aside, how it ends.

use std::process::Stdio as Pipe;
use std::sync::Arc;
use std::time::Duration;

use sterna_protocol::lines;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::task::JoinSet;

use super::super::Lines;
use super::command::{Command, LineSink};
use crate::error::{Error, Fault};

/// A child and the lines to and from it; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) lines: Arc<Lines>,
    child: Child,
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
        let mut child = child.spawn().map_err(Fault::Child)?;
        let (Some(stdin), Some(stdout), Some(aside)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::Closed.into());
        };
        let mut stderr = JoinSet::new();
        stderr.spawn(forward(aside, command.stderr.clone()));
        Ok(Self {
            lines: Arc::new(Lines::new(String::new(), stdout, stdin, max_message)),
            child,
            stderr,
        })
    }

    /// STDIO-C5: the end of its input is the sign to leave; one that does not
    /// see it is told by a signal, and one that does not care is killed.
    pub(super) async fn leave(mut self, grace: Duration) {
        self.lines.hang_up();
        let left = self.leaves_within(grace).await
            || (signal(&self.child) && self.leaves_within(grace).await);
        if !left {
            self.child.kill().await.ok();
        }
        // A grandchild may hold the pipe open for ever.
        let last_words = self.stderr.join_next();
        tokio::time::timeout(LAST_WORDS, last_words).await.ok();
    }

    async fn leaves_within(&mut self, grace: Duration) -> bool {
        let left = tokio::time::timeout(grace, self.child.wait()).await;
        left.is_ok()
    }
}

/// Tells a child to end; whether that can be done here.
#[cfg(unix)]
fn signal(child: &Child) -> bool {
    use rustix::process::{Pid, Signal, kill_process};

    // Until the child has been waited for, nobody else can have its id.
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    id.and_then(Pid::from_raw)
        .is_some_and(|id| kill_process(id, Signal::TERM).is_ok())
}

#[cfg(not(unix))]
fn signal(_: &Child) -> bool {
    false
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

/// How long what the child said last is waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);
