//! Streams of changes that a server tells by itself.

mod legacy;
mod modern;

use std::fmt;
use std::sync::Arc;

use sterna_protocol::subscription::SubscriptionFilter;

use crate::core::{Core, Protocol};
use crate::error::Error;
use crate::notifications::Change;

/// A stream of changes; dropping it ends it.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: sterna_client::Client) -> Result<(), sterna_client::Error> {
/// use sterna_client::Change;
/// use sterna_protocol::subscription::SubscriptionFilter;
///
/// let mut filter = SubscriptionFilter::default();
/// filter.tools_list_changed = Some(true);
/// let mut changes = client.listen(filter).await?;
/// while let Some(change) = changes.next().await? {
///     if change == Change::Tools {
///         println!("{} tools", client.tools().all().await?.len());
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Subscription(ChangeStream);

enum ChangeStream {
    Legacy(legacy::SessionStream),
    Modern(Box<modern::SubscriptionStream>),
}

impl Subscription {
    pub(crate) async fn open(core: Arc<Core>, filter: SubscriptionFilter) -> Result<Self, Error> {
        let stream = match &core.protocol {
            Protocol::Legacy(_) => {
                ChangeStream::Legacy(legacy::SessionStream::open(core, filter).await?)
            }
            Protocol::Modern => {
                let stream = modern::SubscriptionStream::open(core, filter).await?;
                ChangeStream::Modern(Box::new(stream))
            }
        };
        Ok(Self(stream))
    }

    /// Notifications that the server agreed to send, which may be fewer than
    /// requested (SUB-C1).
    pub fn granted(&self) -> &SubscriptionFilter {
        match &self.0 {
            ChangeStream::Legacy(stream) => &stream.granted,
            ChangeStream::Modern(stream) => &stream.granted,
        }
    }

    /// The next change; `None` once the server has ended the stream on purpose.
    ///
    /// A stream that breaks is opened again, which shows as
    /// [`Change::Reopened`].
    ///
    /// # Errors
    ///
    /// The server refuses the stream, or it could not be opened again several
    /// times in a row. Calling again tries once more.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing that came is lost.
    pub async fn next(&mut self) -> Result<Option<Change>, Error> {
        match &mut self.0 {
            ChangeStream::Legacy(stream) => stream.next().await.map(Some),
            ChangeStream::Modern(stream) => stream.next().await,
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("granted", self.granted())
            .finish_non_exhaustive()
    }
}
