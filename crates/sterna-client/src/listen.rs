//! Streams of changes that a server tells by itself.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::{Message, Request, RequestId};
use sterna_protocol::methods::{Or, Request as _, ServerNotification, SubscriptionsListen};
use sterna_protocol::result::Complete;
use sterna_protocol::subscription::{
    SubscriptionFilter, SubscriptionsListenRequestParams, SubscriptionsListenResult,
};
use sterna_protocol::tasks::{self, DetailedTask};

use crate::call::Pacing;
use crate::core::{Core, Spoken};
use crate::error::{Error, Fault};
use crate::transport::Exchange;

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
pub struct Subscription {
    core: Arc<Core>,
    filter: SubscriptionFilter,
    granted: SubscriptionFilter,
    stream: Option<(RequestId, Exchange)>,
    pacing: Pacing,
    failures: u32,
}

impl Subscription {
    pub(crate) async fn open(core: Arc<Core>, filter: SubscriptionFilter) -> Result<Self, Error> {
        if let Spoken::Legacy(_) = &core.spoken {
            let revision = "a revision before 2026-07-28".to_owned();
            return Err(Fault::Unsupported(revision).into());
        }
        let (stream, granted) = connect(&core, &filter).await?;
        Ok(Self {
            core,
            filter,
            granted,
            stream: Some(stream),
            pacing: Pacing::default(),
            failures: 0,
        })
    }

    /// What the server agreed to tell, which may be less than it was asked to
    /// (SUB-C1).
    pub fn granted(&self) -> &SubscriptionFilter {
        &self.granted
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
        loop {
            let Some((id, exchange)) = &mut self.stream else {
                return self.reopen().await.map(Some);
            };
            match exchange.next().await {
                Ok(Some(bytes)) => match read(id, &bytes) {
                    Heard::Change(change) => {
                        self.failures = 0;
                        self.pacing.reset();
                        self.core.cache.invalidate(&change);
                        return Ok(Some(change));
                    }
                    Heard::Nothing => {}
                    Heard::End => return Ok(None),
                    Heard::Refused(error) => {
                        self.stream = None;
                        return Err(error);
                    }
                },
                // SUB-C3: without a result it has only broken.
                Ok(None) | Err(_) => self.stream = None,
            }
        }
    }

    async fn reopen(&mut self) -> Result<Change, Error> {
        loop {
            tokio::time::sleep(self.pacing.next()).await;
            match connect(&self.core, &self.filter).await {
                Ok((stream, granted)) => {
                    self.stream = Some(stream);
                    self.granted = granted;
                    self.core.cache.invalidate(&Change::Reopened);
                    return Ok(Change::Reopened);
                }
                Err(error) => {
                    self.failures += 1;
                    if self.failures >= MOST_FAILURES {
                        self.failures = 0;
                        return Err(error);
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("granted", &self.granted)
            .field("open", &self.stream.is_some())
            .finish_non_exhaustive()
    }
}

/// Opens a stream and waits for the server's agreement.
async fn connect(
    core: &Core,
    filter: &SubscriptionFilter,
) -> Result<((RequestId, Exchange), SubscriptionFilter), Error> {
    let opened = async {
        let id = RequestId::from(core.wire.next_id());
        let params = SubscriptionsListenRequestParams::new(core.plain_meta(), filter.clone());
        let request = Request::new(id.clone(), SubscriptionsListen::METHOD, params);
        let mut headers = HeaderMap::new();
        core.standard_headers(SubscriptionsListen::METHOD, None, &mut headers)?;
        let mut exchange = core.wire.open(id.clone(), &request, headers).await?;
        loop {
            let bytes = exchange.next().await?.ok_or(Fault::Closed)?;
            match decode(&bytes)? {
                Message::Notification(said) => {
                    if let Or::First(ServerNotification::SubscriptionsAcknowledged(agreed)) =
                        said.params
                    {
                        return Ok(((id, exchange), agreed.notifications));
                    }
                }
                Message::Error(response) => {
                    let status = exchange.status.map(|status| status.as_u16());
                    let error = response.error;
                    return Err(Fault::Refused { error, status }.into());
                }
                Message::Result(_) => return Err(Fault::Closed.into()),
                Message::Request(_) => {}
            }
        }
    };
    let limit = core.config.timeout;
    match tokio::time::timeout(limit, opened).await {
        Ok(opened) => opened,
        Err(_) => Err(Fault::Timeout(limit).into()),
    }
}

type Said = Or<ServerNotification, tasks::ServerNotification>;
type Incoming<'a> = Message<'a, Option<&'a RawValue>, Said, Complete<SubscriptionsListenResult>>;

fn decode(bytes: &[u8]) -> Result<Incoming<'_>, Error> {
    Incoming::decode(bytes).map_err(|error| Fault::Decode(error).into())
}

enum Heard {
    Change(Change),
    End,
    Nothing,
    Refused(Error),
}

fn read(id: &RequestId, bytes: &[u8]) -> Heard {
    let said = match decode(bytes) {
        Ok(Message::Notification(notification)) => notification.params,
        Ok(Message::Result(response)) if response.id == *id => return Heard::End,
        Ok(Message::Error(response)) => {
            let error = response.error;
            let status = None;
            return Heard::Refused(Fault::Refused { error, status }.into());
        }
        // What nobody here knows is not for us.
        _ => return Heard::Nothing,
    };
    Heard::Change(match said {
        Or::First(ServerNotification::Cancelled(cancelled)) if cancelled.request_id == *id => {
            return Heard::End;
        }
        Or::First(ServerNotification::PromptListChanged(_)) => Change::Prompts,
        Or::First(ServerNotification::ResourceListChanged(_)) => Change::Resources,
        Or::First(ServerNotification::ResourceUpdated(updated)) => Change::Resource(updated.uri),
        Or::First(ServerNotification::ToolListChanged(_)) => Change::Tools,
        Or::Second(tasks::ServerNotification::TaskStatusChanged(changed)) => {
            Change::Task(Box::new(changed.task))
        }
        _ => return Heard::Nothing,
    })
}

const MOST_FAILURES: u32 = 5;
