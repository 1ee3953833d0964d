//! Keys that follow their file.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use sterna_seal::{KeyId, SharedKeyring};

use crate::rounds::now;

/// Reads the file of `keys` again every `pause`, for as long as it is polled.
///
/// A file that cannot be used leaves the ring as it is: whoever writes it is
/// told, and the server goes on with what it has.
pub(super) async fn follow(keys: Arc<SharedKeyring>, pause: Duration) -> Infallible {
    if pause.is_zero() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(pause).await;
        let reading = Arc::clone(&keys);
        // A file may be on a disk that is slow, or gone.
        let reloaded = tokio::task::spawn_blocking(move || reading.reload(now())).await;
        match reloaded {
            Ok(Ok(reloaded)) => {
                if !reloaded.added.is_empty() {
                    let ids = spell(&reloaded.added);
                    tracing::info!(target: "sterna::keys", ids, "the key file has new keys");
                }
                if !reloaded.cut_short.is_empty() {
                    let ids = spell(&reloaded.cut_short);
                    tracing::warn!(
                        target: "sterna::keys",
                        ids,
                        "MR0601: keys left the file before they retired, and states of theirs are refused"
                    );
                }
            }
            Ok(Err(error)) => tracing::error!(
                target: "sterna::keys",
                error = &error as &dyn std::error::Error,
                "MR0600: the key file cannot be used, the keys in use stay in use"
            ),
            // The runtime is going away, and we with it.
            Err(_) => return std::future::pending().await,
        }
    }
}

fn spell(ids: &[KeyId]) -> String {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    ids.join(" ")
}
