//! Hints from the database.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::str::FromStr;
use std::task::{Poll, ready};
use std::time::Duration;

use sterna_store::{Backoff, BlobId, Error, ParseIdError, TaskId, WakeupSender};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::pool::tls;
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
    let tls = tls(server)?;
    let command = format!("LISTEN {}", config.schema.as_str());
    let (server, wakeups) = (server.server.clone(), wakeups.clone());
    tasks.spawn(async move {
        // A hint may be missed, so a connection that is lost is nothing to
        // report: workers poll all the time.
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(30));
        loop {
            if listen(&server, tls.clone(), &command, &wakeups)
                .await
                .is_ok()
            {
                backoff.reset();
            }
            sleep(backoff.pause(random())).await;
        }
    });
    Ok(tasks)
}

/// Listens until the connection ends. An error means that it never began.
async fn listen(
    server: &tokio_postgres::Config,
    tls: MakeRustlsConnect,
    command: &str,
    wakeups: &WakeupSender,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = server.connect(tls).await?;
    let mut subscribe = pin!(client.batch_execute(command));
    let mut subscribed = false;
    poll_fn(|cx| {
        if !subscribed && let Poll::Ready(result) = subscribe.as_mut().poll(cx) {
            if let Err(error) = result {
                return Poll::Ready(Err(error));
            }
            subscribed = true;
        }
        loop {
            match ready!(connection.poll_message(cx)) {
                Some(Ok(AsyncMessage::Notification(notice))) => {
                    match notice.payload().parse() {
                        Ok(Hint::Blob(blob)) => wakeups.send_for_blob(blob),
                        Ok(Hint::Task(task)) => wakeups.send(task),
                        // Of another version, which says more than we know.
                        Err(_) => {}
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) if !subscribed => return Poll::Ready(Err(error)),
                Some(Err(_)) | None => return Poll::Ready(Ok(())),
            }
        }
    })
    .await
}

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
