//! The signal that the server is going away.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// The signal that the server is going away, shared by all clones.
///
/// Running calls finish. A stream that would stay open sends its last event
/// when it sees the signal. Connections that are open when the time to drain is
/// over are cut.
#[derive(Clone, Debug, Default)]
pub struct Shutdown(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    begun: AtomicBool,
    waiting: Notify,
}

impl Shutdown {
    /// A signal that has not been given.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the signal. Giving it again changes nothing.
    pub fn begin(&self) {
        self.0.begun.store(true, Ordering::Release);
        self.0.waiting.notify_waiters();
    }

    /// Returns whether it has been given.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.0.begun.load(Ordering::Acquire)
    }

    /// Waits for it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future and asking again loses nothing.
    pub async fn begun(&self) {
        let mut heard = pin!(self.0.waiting.notified());
        // Listening before looking: a signal given in between is not missed.
        heard.as_mut().enable();
        if !self.has_begun() {
            heard.await;
        }
    }
}
/// Waits until the process is asked to stop: by Ctrl-C, or by `SIGTERM` where
/// there is one.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the wish it would have seen.
pub async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = terminate.recv() => {}
                    () = ctrl_c() => {}
                }
            }
            Err(_) => ctrl_c().await,
        }
    }
    #[cfg(not(unix))]
    ctrl_c().await;
}

async fn ctrl_c() {
    // Without a handler there is nothing to wait for; the system's own way of stopping remains.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everybody_hears_the_signal_also_after_it_was_given() {
        let shutdown = Shutdown::new();
        let waiting = shutdown.clone();
        let heard = tokio::join!(waiting.begun(), async {
            assert!(!shutdown.has_begun());
            shutdown.begin();
        });
        assert_eq!(heard, ((), ()));
        assert!(waiting.has_begun());
        waiting.begun().await;
    }
}
