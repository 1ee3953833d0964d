//! Keys of the server: reading their file again, and their readiness.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sterna_http::clock::Clock;
use sterna_http::{BlockingReadError, BlockingReads, Check, Checking, Health};
use sterna_seal::{KeyId, ReloadError, Reloaded, SharedKeyring};

/// Reads the file of `keys` again every `pause`, for as long as it is polled.
///
/// A file that cannot be used leaves the ring as it is: the log says so, and the
/// server keeps the keys it has.
pub(super) async fn follow(keys: Arc<SharedKeyring>, clock: Clock, pause: Duration) -> Infallible {
    if pause.is_zero() {
        return std::future::pending().await;
    }
    let reader = BlockingReads::default();
    // It was looked at, and warned of, when the server was built.
    let mut exposed = true;
    loop {
        tokio::time::sleep(pause).await;
        let (reading, now) = (Arc::clone(&keys), clock.now());
        // The file may be on a disk that is slow, or gone, or be a pipe without a writer.
        let reading = reader.run("sterna-keys", move || {
            let exposed = reading.path().is_some_and(is_exposed);
            (reading.reload(now.into()), exposed)
        });
        match reading.await {
            Ok((reloaded, is_exposed)) => {
                report(reloaded);
                if let Some(path) = keys.path().filter(|_| is_exposed && !exposed) {
                    warn_exposed(path);
                }
                exposed = is_exposed;
            }
            // It was said when the read that hangs was begun.
            Err(BlockingReadError::Busy) => {}
            Err(error) => tracing::error!(
                target: "sterna::keys",
                error = &error as &dyn std::error::Error,
                "MR0151: the key file could not be read, the keys in use stay in use"
            ),
        }
    }
}

fn report(reloaded: Result<Reloaded, ReloadError>) {
    match reloaded {
        Ok(reloaded) => {
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
        Err(error) => tracing::error!(
            target: "sterna::keys",
            error = &error as &dyn std::error::Error,
            "MR0600: the key file cannot be used, the keys in use stay in use"
        ),
    }
}

/// Warns of a key file that other users of the machine can read or change.
pub(super) fn warn_if_exposed(keys: &SharedKeyring) {
    if let Some(path) = keys.path().filter(|path| is_exposed(path)) {
        warn_exposed(path);
    }
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

/// Readiness check of the key ring: there is a key to seal with. It lists the ids
/// of the keys, so that an operator sees a replica with other keys.
pub(super) struct KeysReady {
    pub(super) keys: Arc<SharedKeyring>,
    pub(super) clock: Clock,
}

impl Check for KeysReady {
    fn name(&self) -> &'static str {
        "keys"
    }

    fn check(&self) -> Checking {
        let ring = self.keys.current();
        let health = match ring.minting_key(self.clock.now().into()) {
            Some(_) => Health::passing(),
            None => Health::failing(),
        };
        let health = health.with_ids(ring.keys().map(|key| key.id().to_string()));
        Box::pin(std::future::ready(health))
    }
}
