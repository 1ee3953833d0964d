use std::io::{self, Write as _};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::project::Program;
use crate::exit::Failure;

/// A server that runs.
#[derive(Debug)]
pub(super) struct ServerProcess {
    number: u32,
    /// Ends the server when it is sent or dropped.
    stop: oneshot::Sender<()>,
    watching: JoinSet<()>,
}

/// Life sign of a server, by the number of its process.
#[derive(Debug)]
pub(super) enum ServerEvent {
    Ended {
        number: u32,
        status: String,
        is_success: bool,
        /// It has said its address before.
        has_listened: bool,
    },
    Listens {
        number: u32,
        url: String,
    },
}

impl ServerEvent {
    pub(super) const fn number(&self) -> u32 {
        match self {
            Self::Ended { number, .. } | Self::Listens { number, .. } => *number,
        }
    }
}

impl ServerProcess {
    /// Starts `program` in `folder`. Its log goes to the terminal.
    pub(super) fn start(
        program: &Program,
        folder: &Path,
        args: &[String],
        events: mpsc::UnboundedSender<ServerEvent>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(program.path());
        command
            .args(args)
            .current_dir(folder)
            // A server on standard streams finds that it has no client, and ends.
            .stdin(Stdio::null())
            // The addresses are written to standard output, and nothing else.
            .stdout(io::stderr())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let started = command.spawn();
        let mut child =
            started.with_context(|| format!("{} cannot be started", program.path().display()))?;
        let stderr = child.stderr.take().context("stderr was piped")?;
        let number = child.id().unwrap_or_default();
        let (stop, stopped) = oneshot::channel();
        let mut watching = JoinSet::new();
        watching.spawn(watch(child, number, stderr, stopped, events));
        Ok(Self {
            number,
            stop,
            watching,
        })
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Ends the server: it is told to, and killed if it does not.
    pub(super) async fn end(mut self) {
        drop(self.stop);
        self.watching.join_next().await;
    }
}

/// Sees a server through to its end.
async fn watch(
    mut child: Child,
    number: u32,
    stderr: ChildStderr,
    stopped: oneshot::Receiver<()>,
    events: mpsc::UnboundedSender<ServerEvent>,
) {
    let mut has_listened = false;
    let mut log = BufReader::new(stderr).split(b'\n');
    let mut reads = true;
    tokio::pin!(stopped);
    let status = loop {
        tokio::select! {
            line = log.next_segment(), if reads => match line {
                Ok(Some(line)) => {
                    show(&line);
                    if let Some(url) = address_in(&line).filter(|_| !has_listened) {
                        has_listened = true;
                        // The receiver is gone when the command ends.
                        let _ = events.send(ServerEvent::Listens { number, url });
                    }
                }
                Ok(None) | Err(_) => reads = false,
            },
            status = child.wait() => break status,
            _ = &mut stopped => break end(&mut child).await,
        }
    };
    // What it said last, unless a process of its own holds the pipe.
    while let Ok(Ok(Some(line))) = tokio::time::timeout(LAST_WORDS, log.next_segment()).await {
        show(&line);
    }
    let _ = events.send(ServerEvent::Ended {
        number,
        is_success: status.as_ref().is_ok_and(ExitStatus::success),
        status: status.map_or_else(|error| error.to_string(), |status| status.to_string()),
        has_listened,
    });
}

/// Tells a process to end and kills it if it goes on.
pub(super) async fn end(child: &mut Child) -> io::Result<ExitStatus> {
    if terminate(child)
        && let Ok(ended) = tokio::time::timeout(PATIENCE, child.wait()).await
    {
        return ended;
    }
    child.kill().await?;
    child.wait().await
}

/// Tells a process to end; returns false where that is not possible.
#[cfg(unix)]
fn terminate(child: &Child) -> bool {
    use rustix::process::{Pid, Signal, kill_process};

    // Until the child has been waited for, no other process has its id.
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    id.and_then(Pid::from_raw)
        .is_some_and(|id| kill_process(id, Signal::TERM).is_ok())
}

#[cfg(not(unix))]
fn terminate(_: &Child) -> bool {
    false
}

/// Shows a line of the server as it came, with its colours: it is the user's own.
fn show(line: &[u8]) {
    let mut stderr = io::stderr().lock();
    // There is nowhere left to say that stderr is gone.
    let _ = stderr
        .write_all(line)
        .and_then(|()| stderr.write_all(b"\n"));
}

/// The address in the line with which a server says that it listens.
fn address_in(line: &[u8]) -> Option<String> {
    let line = str::from_utf8(line).ok()?;
    let (_, url) = line.trim_end().split_once(" listens on ")?;
    // A server that listens on every address is reached on this one.
    let url = url.replacen("://0.0.0.0:", "://127.0.0.1:", 1);
    let url = url.replacen("://[::]:", "://[::1]:", 1);
    url::Url::parse(&url).is_ok().then_some(url)
}

/// Time that a server has to end in good order. Calls that wait for an answer keep
/// nothing in it.
const PATIENCE: Duration = Duration::from_secs(3);
const LAST_WORDS: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_in_the_line_of_a_server_that_is_up() {
        for (line, expected) in [
            (
                "shop listens on http://127.0.0.1:8080/mcp",
                Some("http://127.0.0.1:8080/mcp"),
            ),
            (
                "shop listens on http://0.0.0.0:80/mcp\r",
                Some("http://127.0.0.1:80/mcp"),
            ),
            ("INFO shop: the team listens on Mondays", None),
            ("", None),
        ] {
            assert_eq!(address_in(line.as_bytes()).as_deref(), expected, "{line}");
        }
    }
}
