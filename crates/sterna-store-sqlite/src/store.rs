//! The store and its life.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sterna_store::{Error, ErrorKind, UnixMillis, WakeupSender};
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::open::{reader, writer};
use crate::schema::migrate;
use crate::thread::{Access, ConnectionHandle, start};

/// A store in one file, for any number of processes on one machine.
///
/// One thread writes and one reads, so an async caller never waits on the disk
/// itself. Calls that come at once share a transaction and its sync. What a
/// client or an effect depends on (creation, answers, cancels, ends, claims of
/// effects and rounds) is synced before it is acknowledged; a step is not, so a
/// power cut may run the last steps again. Hints stay within the process: a
/// worker in another one finds out when it polls.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use sterna_store::{BlobId, Blobs};
/// use sterna_store_sqlite::{Config, SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("tasks.db");
/// let store = SqliteStore::open(&path, Config::default())?;
/// let id = BlobId::from_bytes([1; 16]);
/// store.put_blob(id, "plan".into(), Duration::from_secs(60)).await?;
/// store.close().await;
///
/// let again = SqliteStore::open(&path, Config::default())?;
/// assert_eq!(again.blob(id).await?.as_deref(), Some(&b"plan"[..]));
/// # Ok(())
/// # }
/// ```
pub struct SqliteStore {
    pub(crate) write: ConnectionHandle,
    pub(crate) read: ConnectionHandle,
    pub(crate) wakeups: WakeupSender,
    pub(crate) clock: Arc<Clock>,
    closed: [oneshot::Receiver<()>; 2],
}

impl SqliteStore {
    /// Opens the database at `path`, makes it if there is none, and brings its
    /// tables up to date.
    ///
    /// A new file can be read by its owner only. Its folder must exist, on a
    /// disk of this machine: SQLite's locks do not work over a network.
    ///
    /// # Errors
    ///
    /// `Denied` if the file cannot be written, `Corrupt` if it is no database,
    /// `Incompatible` if a newer version of this crate wrote it, `Unavailable`
    /// if another process keeps it locked. [`Error::code`] names the page that
    /// says what to do.
    pub fn open(path: impl AsRef<Path>, config: Config) -> Result<Self, Error> {
        Self::start(path.as_ref(), config, Clock::system())
    }

    /// As [`open`](Self::open), on clocks that a test moves: `wall` is the time
    /// of day, which an operator may set, and `steady` the time since some moment.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_by_clocks(
        path: impl AsRef<Path>,
        config: Config,
        wall: impl Fn() -> UnixMillis + Send + Sync + 'static,
        steady: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Self::start(path.as_ref(), config, Clock::new(wall, steady))
    }

    fn start(path: &Path, config: Config, clock: Clock) -> Result<Self, Error> {
        let clock = Arc::new(clock);
        let mut connection = writer(path, &config)?;
        migrate(&mut connection)?;
        let reading = reader(path, &config)?;
        let no_thread = |error: std::io::Error| {
            Error::new(ErrorKind::Unavailable, "the system has no thread left").because(error)
        };
        let thread = |connection, access| {
            let clock = Arc::clone(&clock);
            start(connection, access, config.queue, config.batch, clock).map_err(no_thread)
        };
        let (write, writer_closed) = thread(connection, Access::Write)?;
        let (read, reader_closed) = thread(reading, Access::Read)?;
        Ok(Self {
            write,
            read,
            wakeups: WakeupSender::default(),
            clock,
            closed: [reader_closed, writer_closed],
        })
    }

    /// Finishes the calls that have begun and closes the file. Dropping the store
    /// does the same without waiting for it.
    pub async fn close(self) {
        let Self {
            write,
            read,
            closed,
            ..
        } = self;
        drop((write, read));
        for thread in closed {
            // An error means that the thread is gone already.
            let _ = thread.await;
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

/// Settings of a [`SqliteStore`](crate::SqliteStore).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Time to wait for another process that writes to the same file.
    ///
    /// Five seconds: longer than any of our transactions, shorter than a
    /// client's patience.
    pub busy: Duration,
    /// Number of calls that may wait for the writer. Further callers wait for a place
    /// in the queue.
    ///
    /// A thousand: a second's work on a slow disk.
    pub queue: usize,
    /// Number of simultaneous calls that share one transaction.
    ///
    /// 128: all workers of an instance and as many clients share the cost of one
    /// sync, and none waits for long.
    pub batch: usize,
    /// Largest size of the file. Beyond it, calls that need room fail with `Full`.
    ///
    /// `None` by default: the disk is the limit.
    pub bytes: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            busy: Duration::from_secs(5),
            queue: 1000,
            batch: 128,
            bytes: None,
        }
    }
}
