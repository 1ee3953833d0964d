//! Streams of changes that a server tells by itself.

mod legacy;
mod modern;

use std::fmt;
use std::sync::Arc;

use sterna_protocol::subscription::SubscriptionFilter;
use sterna_protocol::tasks::DetailedTask;

use crate::core::{Core, Spoken};
use crate::error::Error;

/// Something changed at the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The list of prompts.
    Prompts,
    /// The stream broke and was opened again: anything may have changed
    /// meanwhile.
    Reopened,
    /// The resource at this address.
    Resource(String),
    /// The list of resources.
    Resources,
    /// A task, as it stands.
    Task(Box<DetailedTask>),
    /// The list of tools.
    Tools,
}

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
pub struct Subscription(Stream);

enum Stream {
    Legacy(legacy::Stream),
    Modern(Box<modern::Stream>),
}

impl Subscription {
    pub(crate) async fn open(core: Arc<Core>, filter: SubscriptionFilter) -> Result<Self, Error> {
        let stream = match &core.spoken {
            Spoken::Legacy(_) => Stream::Legacy(legacy::Stream::open(core, filter).await?),
            Spoken::Modern => {
                let stream = modern::Stream::open(core, filter).await?;
                Stream::Modern(Box::new(stream))
            }
        };
        Ok(Self(stream))
    }

    /// What the server agreed to tell, which may be less than it was asked to
    /// (SUB-C1).
    pub fn granted(&self) -> &SubscriptionFilter {
        match &self.0 {
            Stream::Legacy(stream) => &stream.granted,
            Stream::Modern(stream) => &stream.granted,
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
            Stream::Legacy(stream) => stream.next().await.map(Some),
            Stream::Modern(stream) => stream.next().await,
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
