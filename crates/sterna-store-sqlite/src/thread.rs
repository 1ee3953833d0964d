//! Threads that own a connection, so that no async caller waits on a disk.

use std::pin::pin;
use std::sync::Arc;
use std::{slice, thread};

use rusqlite::Connection;
use sterna_store::{BoxFuture, Error, ErrorKind, UnixMillis};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::clock::Clock;
use crate::error::{again, explain, stopped};

/// Handle to the thread that owns a connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionHandle {
    jobs: mpsc::Sender<Job>,
    room: Arc<QueueSpace>,
}

/// Notifies all waiting callers when the queue has space for jobs.
///
/// No place is kept for a particular caller: one that is not polled would keep
/// it from the others.
#[derive(Debug, Default)]
struct QueueSpace(Notify);

impl QueueSpace {
    fn notify_all(&self) {
        self.0.notify_waiters();
    }
}

/// Notifies the waiting callers when the thread ends, so that they find the
/// store closed.
struct WakeOnDrop(Arc<QueueSpace>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        self.0.notify_all();
    }
}

impl ConnectionHandle {
    /// Runs `work` on the thread and waits for its result.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl Fn(&Connection, UnixMillis) -> Result<T, Error> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, Error>> {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            let call = Box::new(Call {
                work,
                result: None,
                tell,
            });
            self.send(Job { durability, call }).await?;
            told.await.map_err(|_| stopped())?
        })
    }

    /// Waits until there is room for `job`.
    async fn send(&self, mut job: Job) -> Result<(), Error> {
        loop {
            let mut room = pin!(self.room.0.notified());
            // From here on no ring is missed, so the queue is looked at after it.
            room.as_mut().enable();
            job = match self.jobs.try_send(job) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(job)) => job,
                Err(TrySendError::Closed(_)) => return Err(stopped()),
            };
            room.await;
        }
    }
}

/// The kind of crash that a transaction must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Durability {
    /// A crash of the process. After a power cut the last of these may be
    /// missing, and a step is run again.
    Process,
    /// A power cut.
    Machine,
}

/// The kind of transaction that a thread begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Starts a thread that does jobs on `connection`, up to `batch` in one
/// transaction when they come at once, until every [`ConnectionHandle`] is gone. The
/// receiver hears when the connection is closed.
pub(crate) fn start(
    connection: Connection,
    access: Access,
    queue: usize,
    batch: usize,
    clock: Arc<Clock>,
) -> Result<(ConnectionHandle, oneshot::Receiver<()>), std::io::Error> {
    let (jobs, waiting) = mpsc::channel(queue.max(1));
    let (closed, heard) = oneshot::channel();
    let room = Arc::new(QueueSpace::default());
    let ringing = WakeOnDrop(Arc::clone(&room));
    let name = match access {
        Access::Read => "sterna-sqlite-read",
        Access::Write => "sterna-sqlite-write",
    };
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let thread = Thread {
                connection: &connection,
                access,
                clock: &clock,
            };
            thread.serve(waiting, batch.max(1), &ringing.0);
            drop(connection);
            // There is no receiver when the store was simply dropped.
            let _ = closed.send(());
        })?;
    Ok((ConnectionHandle { jobs, room }, heard))
}

/// Something to do, and how much it must survive.
struct Job {
    durability: Durability,
    call: Box<dyn Step>,
}

/// A job with its types forgotten.
trait Step: Send {
    /// Does the work, again if need be. Returns its error, if there is one.
    fn run(&mut self, connection: &Connection, now: UnixMillis) -> Option<&Error>;

    /// Tells the caller, when the transaction is through.
    fn tell(self: Box<Self>, transaction: Result<(), Error>);
}

struct Call<T, F> {
    work: F,
    result: Option<Result<T, Error>>,
    tell: oneshot::Sender<Result<T, Error>>,
}

impl<T, F> Step for Call<T, F>
where
    T: Send,
    F: Fn(&Connection, UnixMillis) -> Result<T, Error> + Send,
{
    fn run(&mut self, connection: &Connection, now: UnixMillis) -> Option<&Error> {
        let result = self.result.insert((self.work)(connection, now));
        result.as_ref().err()
    }

    fn tell(self: Box<Self>, transaction: Result<(), Error>) {
        // What was decided in a transaction that failed was decided on
        // something that never was.
        let result = match (self.result, transaction) {
            (_, Err(error)) | (Some(Err(error)), Ok(())) => Err(error),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(stopped()),
        };
        // There is no receiver when the caller has given up.
        let _ = self.tell.send(result);
    }
}

/// The connection of a thread and its settings.
struct Thread<'a> {
    connection: &'a Connection,
    access: Access,
    clock: &'a Clock,
}

impl Thread<'_> {
    fn serve(&self, mut waiting: mpsc::Receiver<Job>, batch: usize, room: &QueueSpace) {
        let mut synchronous = None;
        let mut jobs = Vec::with_capacity(batch);
        while waiting.blocking_recv_many(&mut jobs, batch) > 0 {
            room.notify_all();
            let needed = jobs.iter().map(|job| job.durability).max();
            let mut ready = Ok(());
            if self.access == Access::Write && needed != synchronous {
                ready = set_synchronous(self.connection, needed).map_err(explain);
                synchronous = needed.filter(|_| ready.is_ok());
            }
            let result = ready.and_then(|()| self.transact(&mut jobs));
            let full = matches!(&result, Err(error) if error.kind() == ErrorKind::Full);
            for mut job in jobs.drain(..) {
                let result = match &result {
                    // Only what does not fit is refused, not its neighbours.
                    Err(_) if full => self.transact(slice::from_mut(&mut job)),
                    Err(error) => Err(again(error)),
                    Ok(()) => Ok(()),
                };
                job.call.tell(result);
            }
        }
    }

    /// Does `jobs` in one transaction. One that fails is undone and spoils
    /// nothing for the others.
    fn transact(&self, jobs: &mut [Job]) -> Result<(), Error> {
        let result = self.run(jobs);
        if !self.connection.is_autocommit() {
            // If even this fails, the next BEGIN fails too and says why.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        result
    }

    fn run(&self, jobs: &mut [Job]) -> Result<(), Error> {
        let connection = self.connection;
        // Prepared once: parsing these would cost as much as a small job.
        let execute = |sql| -> Result<(), Error> {
            let prepared = connection.prepare_cached(sql);
            let executed = prepared.and_then(|mut statement| statement.execute([]));
            executed.map(|_| ()).map_err(explain)
        };
        execute(match self.access {
            Access::Read => "BEGIN",
            Access::Write => "BEGIN IMMEDIATE",
        })?;
        let now = self.clock.now();
        for job in jobs {
            execute("SAVEPOINT job")?;
            if let Some(error) = job.call.run(connection, now) {
                // A full disk ends the whole transaction, and the other jobs too.
                if connection.is_autocommit() {
                    return Err(again(error));
                }
                execute("ROLLBACK TO job")?;
            }
            execute("RELEASE job")?;
        }
        execute("COMMIT")
    }
}

fn set_synchronous(
    connection: &Connection,
    durability: Option<Durability>,
) -> Result<(), rusqlite::Error> {
    // In WAL mode NORMAL syncs at checkpoints only and FULL at every commit,
    // earlier commits included.
    connection.execute_batch(match durability {
        Some(Durability::Machine) => "PRAGMA synchronous = FULL",
        Some(Durability::Process) | None => "PRAGMA synchronous = NORMAL",
    })
}
