//! Reads the keys of a server again while it serves.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use sterna_seal::{KeyId, ReloadError, Reloaded, SharedKeyring, UnixMillis};
use tokio::sync::Notify;
use tracing::dispatcher::{get_default, with_default};

/// Reads keys again when a request finds them old. It has no timer: a process
/// that is frozen between two requests reads them with the first one after.
///
/// Keys that are older than the interval are read again beside the request. For
/// keys twice as old a request waits: another instance may have begun to seal
/// with a key that is not among them. Age is measured by the wall clock, because
/// others stand still while a machine is frozen; a clock that was set back makes
/// keys old too.
///
/// A read is done on a thread of its own, one at a time. One that takes longer
/// than two seconds is reported and waited for no longer.
pub struct KeyReloader {
    keys: Arc<SharedKeyring>,
    /// Milliseconds; zero reads nothing again.
    interval: i64,
    /// Time at which the last read was begun.
    read_at: AtomicI64,
    reading: AtomicBool,
    /// The read that is under way has taken too long, and that has been said.
    is_slow: AtomicBool,
    is_exposed: AtomicBool,
    ended: Notify,
}

impl KeyReloader {
    /// Reads `keys`, which were read at `now`, again once they are older than
    /// `interval`. Keys without a source, and those whose interval is zero, are
    /// never read again.
    ///
    /// Warns of a key file that other users of the machine can read or change.
    pub fn new(keys: Arc<SharedKeyring>, interval: Duration, now: UnixMillis) -> Arc<Self> {
        let interval = match keys.source() {
            Some(_) => UnixMillis::span(interval),
            None => 0,
        };
        let exposed = keys.path().filter(|path| is_exposed(path));
        if let Some(path) = exposed {
            warn_exposed(path);
        }
        Arc::new(Self {
            is_exposed: AtomicBool::new(exposed.is_some()),
            interval,
            read_at: AtomicI64::new(now.get()),
            reading: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
            ended: Notify::new(),
            keys,
        })
    }

    /// Begins to read keys that are old. `true` if they are so old that the
    /// request should [`wait`](Self::wait).
    ///
    /// Costs one load and one comparison while the keys are fresh.
    #[must_use]
    pub fn refresh(self: &Arc<Self>, now: UnixMillis) -> bool {
        let age = self.age(now);
        if self.interval == 0 || age < self.interval {
            return false;
        }
        self.begin(now);
        age >= self.interval.saturating_mul(2) && !self.is_slow.load(Ordering::Relaxed)
    }

    /// Waits for keys that are not old, but no longer than two seconds.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the read to its thread.
    pub async fn wait(self: &Arc<Self>, now: UnixMillis) {
        let fresh = async {
            // The read under way may have been begun before the process was frozen.
            loop {
                let ended = self.ended.notified();
                tokio::pin!(ended);
                ended.as_mut().enable();
                self.begin(now);
                if !self.reading.load(Ordering::Acquire) {
                    return;
                }
                ended.await;
                if self.age(now) < self.interval {
                    return;
                }
            }
        };
        if tokio::time::timeout(PATIENCE, fresh).await.is_err() {
            self.report_slow();
        }
    }

    /// Reads the keys again every interval, by a timer, for as long as it is
    /// polled. `clock` returns the time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the read to its thread.
    pub async fn follow(self: Arc<Self>, clock: impl Fn() -> UnixMillis) -> Infallible {
        let Ok(pause @ 1..) = u64::try_from(self.interval) else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let Some(ended) = self.start(clock()) else {
                continue;
            };
            // A runtime waits for the threads of its pool, so this one must not wait for ever.
            let waited = tokio::task::spawn_blocking(move || ended.recv_timeout(PATIENCE));
            if let Ok(Err(RecvTimeoutError::Timeout)) = waited.await {
                self.report_slow();
            }
        }
    }

    /// Returns the time since the last read, in either direction.
    fn age(&self, now: UnixMillis) -> i64 {
        let read_at = self.read_at.load(Ordering::Relaxed);
        now.get().saturating_sub(read_at).saturating_abs()
    }

    /// Begins a read if the keys are old and none is under way.
    fn begin(self: &Arc<Self>, now: UnixMillis) {
        if self.age(now) >= self.interval {
            self.start(now);
        }
    }

    /// Starts a read, unless one is under way. The channel closes at its end.
    fn start(self: &Arc<Self>, now: UnixMillis) -> Option<Receiver<()>> {
        if self.reading.swap(true, Ordering::AcqRel) {
            return None;
        }
        self.read_at.store(now.get(), Ordering::Relaxed);
        self.is_slow.store(false, Ordering::Relaxed);
        let (end, ended) = channel();
        let reading = Reading {
            reloader: Arc::clone(self),
            _end: end,
        };
        // Events of the read go where those of the request go.
        let log = get_default(Clone::clone);
        let thread = std::thread::Builder::new().name("sterna-keys".to_owned());
        let started = thread.spawn(move || with_default(&log, || reading.read(now)));
        if let Err(error) = started {
            report_unread(&error);
        }
        Some(ended)
    }

    fn report_slow(&self) {
        let is_reading = self.reading.load(Ordering::Acquire);
        if is_reading && !self.is_slow.swap(true, Ordering::Relaxed) {
            report_unread(&io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the read took longer than {} seconds", PATIENCE.as_secs()),
            ));
        }
    }
}

impl fmt::Debug for KeyReloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyReloader")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

/// A read that is under way.
struct Reading {
    reloader: Arc<KeyReloader>,
    /// Closes the channel of the thread that waits.
    _end: Sender<()>,
}

impl Reading {
    fn read(self, now: UnixMillis) {
        let keys = &self.reloader.keys;
        report(keys.reload(now));
        if let Some(path) = keys.path() {
            let exposed = is_exposed(path);
            let was_exposed = self.reloader.is_exposed.swap(exposed, Ordering::Relaxed);
            if exposed && !was_exposed {
                warn_exposed(path);
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if std::thread::panicking() {
            report_unread(&io::Error::other("the source panicked"));
        }
        self.reloader.reading.store(false, Ordering::Release);
        self.reloader.ended.notify_waiters();
    }
}

fn report(reloaded: Result<Reloaded, ReloadError>) {
    match reloaded {
        Ok(reloaded) => {
            if !reloaded.added.is_empty() {
                let ids = spell(&reloaded.added);
                tracing::info!(target: "sterna::keys", ids, "there are new keys");
            }
            if !reloaded.cut_short.is_empty() {
                let ids = spell(&reloaded.cut_short);
                tracing::warn!(
                    target: "sterna::keys",
                    ids,
                    "MR0601: keys are gone before they retired, and states of theirs are refused"
                );
            }
        }
        Err(error) => tracing::error!(
            target: "sterna::keys",
            error = &error as &dyn std::error::Error,
            "MR0600: the keys that were read cannot be used, the keys in use stay in use"
        ),
    }
}

fn report_unread(error: &io::Error) {
    tracing::error!(
        target: "sterna::keys",
        error = error as &dyn std::error::Error,
        "MR0151: the keys could not be read again, the keys in use stay in use"
    );
}

fn warn_exposed(path: &Path) {
    let path = path.display();
    tracing::warn!(
        target: "sterna::keys",
        "MR0150: every user of this machine can read or change the key file: run `chmod 600 {path}`"
    );
}

#[cfg(unix)]
fn is_exposed(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    std::fs::metadata(path).is_ok_and(|file| file.mode() & 0o006 != 0)
}

#[cfg(not(unix))]
fn is_exposed(_: &Path) -> bool {
    false
}

fn spell(ids: &[KeyId]) -> String {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    ids.join(" ")
}

/// Time that a read may take before it is no longer waited for. A local file
/// takes none, a secret store a part of it.
const PATIENCE: Duration = Duration::from_secs(2);
