//! A message from one instance to another.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::{Backoff, BlobId, Error, ErrorKind, Store, Wakeup, Wakeups};

/// A place in a store where one instance leaves a message and another one waits for
/// it. Both compute its address from what they know.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use std::time::Duration;
/// use sterna_store::{Backoff, BlobId, Mailbox, MemoryStore};
///
/// let mailbox = Mailbox::new(Arc::new(MemoryStore::new()), BlobId::from_bytes([7; 16]));
/// mailbox.post("yes".into(), Duration::from_secs(60)).await?;
/// // The first message counts.
/// mailbox.post("no".into(), Duration::from_secs(60)).await?;
/// let mut backoff = Backoff::default();
/// assert_eq!(mailbox.collect(&mut backoff, || 0).await?, "yes");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Mailbox {
    store: Arc<dyn Store>,
    address: BlobId,
}

impl Mailbox {
    /// Creates the mailbox at `address`. Nothing is written.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, address: BlobId) -> Self {
        Self { store, address }
    }

    /// Leaves a message, which is kept for `ttl`. If there is another one already,
    /// that one stays: the first message counts.
    ///
    /// # Errors
    ///
    /// The store failed: whether the message is there is unknown, and posting it
    /// again is harmless.
    pub async fn post(&self, message: Bytes, ttl: Duration) -> Result<(), Error> {
        match self.store.post_blob(self.address, message, ttl).await {
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(()),
            posted => posted,
        }
    }

    /// Waits for the message: looks after each pause of `backoff`, and when the store
    /// says that it may be there. `jitter` is a source of randomness for the pauses.
    ///
    /// # Errors
    ///
    /// A look failed. The next call goes on with the same pauses.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves the message where it is.
    pub async fn collect(
        &self,
        backoff: &mut Backoff,
        jitter: impl Fn() -> u64,
    ) -> Result<Bytes, Error> {
        let mut wakeups = self.store.wakeups();
        loop {
            tokio::select! {
                () = tokio::time::sleep(backoff.pause(jitter())) => {}
                () = wakeup_for(&mut wakeups, self.address) => {}
            }
            if let Some(message) = self.store.blob(self.address).await? {
                return Ok(message);
            }
        }
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Ends when the store says that the message may be there.
async fn wakeup_for(wakeups: &mut Wakeups, address: BlobId) {
    loop {
        match wakeups.next().await {
            Wakeup::Blob(posted) if posted == address => return,
            Wakeup::Many => return,
            Wakeup::Blob(_) | Wakeup::Task(_) => {}
        }
    }
}
