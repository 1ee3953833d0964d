//! Ctrl-C, with a message for each wait that it ends.

use anyhow::anyhow;
use tokio::sync::Notify;

use crate::exit::{Exit, Failure};

/// Listens for as long as the command runs: what comes between two waits is
/// kept for the next one.
pub(crate) async fn listen() {
    // Where it cannot be heard, it ends the process by itself.
    while tokio::signal::ctrl_c().await.is_ok() {
        COMING.notify_one();
    }
}

/// Waits for an interrupt that no other wait has taken.
pub(crate) async fn heard() {
    COMING.notified().await;
}

/// Waits for `work`; an interrupt drops it, which takes back what it asked of
/// the server, and is told in `words`.
pub(crate) fn or<T>(
    words: &str,
    work: impl Future<Output = Result<T, Failure>>,
) -> impl Future<Output = Result<T, Failure>> {
    // Boxed here, because it is large and every caller's future would hold it.
    let work = Box::pin(work);
    async move {
        tokio::select! {
            // First, because a question on the terminal inside hears it too, and
            // knows better what to do.
            biased;
            ended = work => ended,
            () = heard() => Err(Failure::new(Exit::Declined, anyhow!("{words}"))),
        }
    }
}

static COMING: Notify = Notify::const_new();
