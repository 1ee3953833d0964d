//! Hints from the database.

use std::fmt;
use std::future::poll_fn;
use std::str::FromStr;
use std::task::{Poll, ready};
use std::time::Duration;

use sterna_store::{Backoff, BlobId, Error, ParseIdError, TaskId, WakeupSender};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client};

use crate::servers::{Line, Servers};
use crate::session::random;
use crate::{Config, Hints};

/// Starts to ring `wakeups` whenever the database says so. The listener ends with
/// the set that is returned.
pub(crate) fn start(config: &Config, wakeups: &WakeupSender) -> Result<JoinSet<()>, Error> {
    let mut tasks = JoinSet::new();
    let server = match &config.hints {
        Hints::Off => return Ok(tasks),
        Hints::Listen => config,
        Hints::ListenAt(direct) => direct,
    };
    let servers = Servers::new(server)?;
    let command = format!("LISTEN {}", config.schema.as_str());
    let wakeups = wakeups.clone();
    tasks.spawn(async move {
        // A hint may be missed, so a connection that is lost is nothing to
        // report: workers poll all the time.
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(30));
        loop {
            // A server that accepts a connection and says no more is left for another.
            let listened = match timeout(LONGEST_CONNECT, servers.connect()).await {
                Ok(Ok((client, line))) => listen(&client, line, &command, &wakeups).await,
                _ => Listened::Never,
            };
            if listened == Listened::ForAWhile {
                backoff.reset();
            }
            sleep(backoff.pause(random())).await;
        }
    });
    Ok(tasks)
}

/// The fate of a connection for hints: it was heard for a while, or never.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listened {
    ForAWhile,
    Never,
}

/// Listens until the connection ends, or does not answer any more: that of a server
/// that is stopped, or that another one has replaced, stays open.
async fn listen(
    client: &Client,
    mut line: Line,
    command: &str,
    wakeups: &WakeupSender,
) -> Listened {
    let mut listened = Listened::Never;
    let messages = poll_fn(|cx| {
        while let Some(Ok(message)) = ready!(line.poll_message(cx)) {
            let AsyncMessage::Notification(notice) = message else {
                continue;
            };
            match notice.payload().parse() {
                Ok(Hint::Blob(blob)) => wakeups.send_for_blob(blob),
                Ok(Hint::Task(task)) => wakeups.send(task),
                // Of another version, which says more than we know.
                Err(_) => {}
            }
        }
        Poll::Ready(())
    });
    let subscription = async {
        let mut statement = command;
        while let Ok(Ok(())) = timeout(ANSWER, client.batch_execute(statement)).await {
            listened = Listened::ForAWhile;
            statement = "";
            sleep(PING).await;
        }
    };
    tokio::select! {
        () = messages => {}
        () = subscription => {}
    }
    listened
}

/// Longest wait for a server that takes writes.
const LONGEST_CONNECT: Duration = Duration::from_secs(30);

/// Pause between two looks whether the server still answers.
const PING: Duration = Duration::from_secs(10);

/// Longest wait for its answer.
const ANSWER: Duration = Duration::from_secs(10);

/// The subject of a notification. Its text is read by other versions too: a task
/// is its id alone, and a version without blobs ignores the others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    Blob(BlobId),
    Task(TaskId),
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Ids have one spelling.
            Self::Blob(id) => write!(f, "blob {}", TaskId::from_bytes(*id.as_bytes())),
            Self::Task(id) => id.fmt(f),
        }
    }
}

impl FromStr for Hint {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        match text.strip_prefix("blob ") {
            Some(id) => {
                let id: TaskId = id.parse()?;
                Ok(Self::Blob(BlobId::from_bytes(*id.as_bytes())))
            }
            None => text.parse().map(Self::Task),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_written_as_other_versions_read_them() {
        let task = Hint::Task(TaskId::from_bytes([0xab; 16]));
        let blob = Hint::Blob(BlobId::from_bytes([0xcd; 16]));
        assert_eq!(task.to_string(), "ab".repeat(16));
        assert_eq!(blob.to_string(), format!("blob {}", "cd".repeat(16)));
        for hint in [task, blob] {
            assert_eq!(hint.to_string().parse(), Ok(hint));
        }
        assert!("something new".parse::<Hint>().is_err());
    }
}
