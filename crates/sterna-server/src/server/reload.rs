//! Keys of the server: their first read, and their readiness.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use sterna_http::clock::Clock;
use sterna_http::{Check, Checking, Health};
use sterna_runner::KeyReloader;
use sterna_seal::{KeySource, KeySourceError, ReloadError, SharedKeyring, UnixMillis};

/// Reads the keys of a server that is being built.
///
/// On a thread of its own, as later reads are: a source may block on a runtime,
/// which the thread of a runtime must not.
pub(super) fn read_keys(
    source: &Arc<dyn KeySource>,
    now: UnixMillis,
) -> Result<SharedKeyring, ReloadError> {
    let (done, read) = channel();
    let shared = Arc::clone(source);
    let thread = std::thread::Builder::new().name("sterna-keys".to_owned());
    let started = thread.spawn(move || done.send(SharedKeyring::from_source(shared, now)));
    let failed = |error: io::Error| ReloadError::new(&**source, KeySourceError::Read(error));
    started.map_err(failed)?;
    match read.recv_timeout(FIRST_PATIENCE) {
        Ok(read) => read,
        Err(RecvTimeoutError::Timeout) => {
            let seconds = FIRST_PATIENCE.as_secs();
            let text = format!("it has not answered for {seconds} seconds");
            Err(failed(io::Error::new(io::ErrorKind::TimedOut, text)))
        }
        Err(RecvTimeoutError::Disconnected) => Err(failed(io::Error::other("it panicked"))),
    }
}

/// Readiness check of the key ring: there is a key to seal with. It lists the ids
/// of the keys, so that an operator sees a replica with other keys.
pub(super) struct KeysReady {
    pub(super) keys: Arc<SharedKeyring>,
    pub(super) reloader: Arc<KeyReloader>,
    pub(super) clock: Clock,
}

impl Check for KeysReady {
    fn name(&self) -> &'static str {
        "keys"
    }

    fn check(&self) -> Checking {
        let (keys, reloader) = (Arc::clone(&self.keys), Arc::clone(&self.reloader));
        let now = self.clock.now().into();
        Box::pin(async move {
            if reloader.refresh(now) {
                reloader.wait(now).await;
            }
            let ring = keys.current();
            let health = match ring.minting_key(now) {
                Some(_) => Health::passing(),
                None => Health::failing(),
            };
            health.with_ids(ring.keys().map(|key| key.id().to_string()))
        })
    }
}

/// Time that a source may take for the first read: a secret store may have to be
/// connected to. Ten seconds, as long as AWS Lambda gives a process to start.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
