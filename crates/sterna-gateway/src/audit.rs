//! The audit log: a line of JSON for each round of a call, without any value.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

/// Place of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditTarget {
    /// A file, which lines are added to. It is opened again for each few lines, so
    /// that it may be moved away.
    File(PathBuf),
    /// Standard error.
    Stderr,
}

/// Writes lines on a thread of its own. Dropping it ends the thread when the lines
/// that it has are written.
#[derive(Debug)]
pub(crate) struct AuditLog {
    lines: mpsc::Sender<Message>,
    /// Lines that found no room, and were not yet reported.
    lost: AtomicU64,
}

#[derive(Debug)]
enum Message {
    Line(String),
    /// Sent when all lines before it are written.
    Flush(oneshot::Sender<()>),
}

impl AuditLog {
    /// Opens the log, so that a place that cannot be written to is found at once.
    pub(crate) fn open(target: &AuditTarget) -> std::io::Result<Self> {
        if let AuditTarget::File(path) = target {
            append(path, "")?;
        }
        let (lines, mut waiting) = mpsc::channel(MOST_WAITING);
        let target = target.clone();
        let thread = std::thread::Builder::new().name("sterna-audit".to_owned());
        thread.spawn(move || {
            while let Some(first) = waiting.blocking_recv() {
                let mut text = String::new();
                let mut flushed = Vec::new();
                let mut next = Some(first);
                while let Some(message) = next {
                    match message {
                        Message::Line(line) => text += &line,
                        Message::Flush(done) => flushed.push(done),
                    }
                    next = (text.len() < MOST_AT_ONCE)
                        .then(|| waiting.try_recv().ok())
                        .flatten();
                }
                write(&target, &text);
                for done in flushed {
                    // A gateway that no longer waits has given up on us.
                    let _ = done.send(());
                }
            }
        })?;
        Ok(Self {
            lines,
            lost: AtomicU64::new(0),
        })
    }

    /// Adds a line. Waits a moment if a slow disk has left no room, and then loses
    /// the line rather than hold up the call.
    pub(crate) async fn add(&self, line: String) {
        let sending = self.lines.send_timeout(Message::Line(line), MOMENT);
        let sent = sending.await.is_ok();
        self.note(sent);
    }

    /// Adds a line if there is room, for a call that was dropped and cannot wait.
    pub(crate) fn add_now(&self, line: String) {
        let sent = self.lines.try_send(Message::Line(line)).is_ok();
        self.note(sent);
    }

    fn note(&self, sent: bool) {
        if !sent {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::error!(target: "sterna::gateway", lost, "MR0922: lines of the audit log were lost");
        }
    }

    /// Waits until all lines are written, for a few seconds at most.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        let sent = self.lines.send_timeout(Message::Flush(done), LAST_WAIT);
        if sent.await.is_ok() {
            // A disk that does not answer must not keep the gateway from ending.
            let _ = tokio::time::timeout(LAST_WAIT, flushed).await;
        }
    }
}

fn write(target: &AuditTarget, text: &str) {
    let written = match target {
        AuditTarget::File(path) => append(path, text),
        AuditTarget::Stderr => std::io::stderr().lock().write_all(text.as_bytes()),
    };
    if let Err(error) = written {
        let lines = text.lines().count();
        tracing::error!(target: "sterna::gateway", %error, lines, "MR0922: the audit log cannot be written");
    }
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    // It says who called what.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // One write for all lines, so that those of several processes are not mixed.
    options.open(path)?.write_all(text.as_bytes())
}

/// Lines that may wait for the disk.
const MOST_WAITING: usize = 1024;

/// Text that is written at once.
const MOST_AT_ONCE: usize = 64 * 1024;

/// Time that a call waits for room.
const MOMENT: Duration = Duration::from_secs(1);

/// Time that the gateway waits for its last lines.
const LAST_WAIT: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_added_to_the_file_also_after_it_was_moved_away() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("audit"), folder.path().join("old"));
        let log = AuditLog::open(&AuditTarget::File(path.clone())).unwrap();
        log.add("one\n".to_owned()).await;
        log.add_now("two\n".to_owned());
        log.flush().await;
        std::fs::rename(&path, &moved).unwrap();
        log.add("three\n".to_owned()).await;
        log.flush().await;
        assert_eq!(std::fs::read_to_string(&moved).unwrap(), "one\ntwo\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "three\n");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let _log = AuditLog::open(&AuditTarget::File(path.clone())).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_found_at_once() {
        let target = AuditTarget::File(PathBuf::from("/nonexistent/audit"));
        assert!(AuditLog::open(&target).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_disk_that_does_not_answer_holds_up_a_call_for_a_moment_only() {
        let (lines, _waiting) = mpsc::channel(1);
        let log = AuditLog {
            lines,
            lost: AtomicU64::new(0),
        };
        log.add("fits\n".to_owned()).await;
        let begin = tokio::time::Instant::now();
        log.add("does not\n".to_owned()).await;
        assert_eq!(begin.elapsed(), MOMENT);
        log.add_now("neither\n".to_owned());
        assert_eq!(log.lost.load(Ordering::Relaxed), 2);
    }
}
