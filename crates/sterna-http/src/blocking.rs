//! Reads that may block for ever, on a thread that holds nothing up.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Runs blocking work, one piece at a time, each on a thread of its own.
///
/// A runtime waits at its end for the threads of its pool, so a read of a pipe
/// or of a network drive that hangs there would keep the process from leaving.
/// Here the pool waits for a thread outside of it, and not for longer than two
/// seconds.
#[derive(Clone, Debug, Default)]
pub struct BlockingReads(Arc<AtomicBool>);

/// The work has not been done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockingReadError {
    /// The piece before has not come to its end.
    #[error("the previous read has not ended")]
    Busy,
    /// The work panicked, or the runtime is going away.
    #[error("the read was broken off")]
    BrokenOff,
    /// There is no thread to do it on.
    #[error("no thread could be started for the read")]
    Thread(#[source] io::Error),
    /// It goes on, and is waited for no longer.
    #[error("the read took longer than {} seconds", PATIENCE.as_secs())]
    TooSlow,
}

impl BlockingReads {
    /// Does `work` on a thread that is called `name`.
    ///
    /// # Errors
    ///
    /// [`BlockingReadError`]: the work was not done, or not in time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread to its work; the result is lost.
    pub async fn run<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, BlockingReadError> {
        if self.0.swap(true, Ordering::AcqRel) {
            return Err(BlockingReadError::Busy);
        }
        let busy = Busy(Arc::clone(&self.0));
        let (done, result) = sync_channel(1);
        let thread = std::thread::Builder::new().name(name.to_owned());
        let started = thread.spawn(move || {
            let result = work();
            // First: the caller that gets the result may have more to do.
            drop(busy);
            // The receiver is gone if the wait for it was given up.
            let _ = done.send(result);
        });
        started.map_err(BlockingReadError::Thread)?;
        let waited = tokio::task::spawn_blocking(move || result.recv_timeout(PATIENCE));
        match waited.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(RecvTimeoutError::Timeout)) => Err(BlockingReadError::TooSlow),
            Ok(Err(RecvTimeoutError::Disconnected)) | Err(_) => Err(BlockingReadError::BrokenOff),
        }
    }
}

/// Says, when dropped, that the thread is free.
struct Busy(Arc<AtomicBool>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Time that a small file may take to be read. A local one takes none.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn one_piece_runs_at_a_time_and_a_slow_one_is_not_waited_for() {
        let detached = BlockingReads::default();
        assert_eq!(detached.run("a", || 7).await.unwrap(), 7);
        let (go, gone) = channel::<()>();
        let slow = detached.run("b", move || gone.recv()).await;
        assert!(matches!(slow, Err(BlockingReadError::TooSlow)), "{slow:?}");
        let refused = detached.run("c", || ()).await;
        assert!(
            matches!(refused, Err(BlockingReadError::Busy)),
            "{refused:?}"
        );
        go.send(()).unwrap();
        while detached.0.load(Ordering::Acquire) {
            tokio::task::yield_now().await;
        }
        let panicked = detached.run("d", || panic!("as told")).await;
        assert!(
            matches!(panicked, Err(BlockingReadError::BrokenOff)),
            "{panicked:?}"
        );
    }
}
