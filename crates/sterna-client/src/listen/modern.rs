use std::sync::Arc;

use http::HeaderMap;
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::{Message, Request, RequestId};
use sterna_protocol::methods::{Or, RequestMethod as _, ServerNotification, SubscriptionsListen};
use sterna_protocol::result::Complete;
use sterna_protocol::subscription::{
    SubscriptionFilter, SubscriptionsListenRequestParams, SubscriptionsListenResult,
};
use sterna_protocol::tasks;

use crate::config::Backoff;
use crate::core::Core;
use crate::error::{Error, Fault};
use crate::notifications::Change;
use crate::transport::Exchange;

/// A request whose answer is a stream, opened again when it breaks.
pub(super) struct SubscriptionStream {
    core: Arc<Core>,
    filter: SubscriptionFilter,
    pub(super) granted: SubscriptionFilter,
    stream: Option<(RequestId, Exchange)>,
    backoff: Backoff,
    failures: u32,
}

impl SubscriptionStream {
    pub(super) async fn open(core: Arc<Core>, filter: SubscriptionFilter) -> Result<Self, Error> {
        let (stream, granted) = connect(&core, &filter).await?;
        let backoff = Backoff::new(&core.config);
        Ok(Self {
            core,
            filter,
            granted,
            stream: Some(stream),
            backoff,
            failures: 0,
        })
    }

    /// The next change. Reconnects where that is needed.
    pub(super) async fn next(&mut self) -> Result<Option<Change>, Error> {
        loop {
            let Some((id, exchange)) = &mut self.stream else {
                return self.reopen().await.map(Some);
            };
            match exchange.next().await {
                Ok(Some(bytes)) => match read(id, &bytes) {
                    StreamEvent::Change(change) => {
                        self.failures = 0;
                        self.backoff.reset();
                        self.core.cache.invalidate(&change);
                        return Ok(Some(change));
                    }
                    StreamEvent::Nothing => {}
                    StreamEvent::End => return Ok(None),
                    StreamEvent::Refused(error) => {
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
            tokio::time::sleep(self.backoff.next()).await;
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

/// Opens a stream and waits for the server's agreement.
async fn connect(
    core: &Core,
    filter: &SubscriptionFilter,
) -> Result<((RequestId, Exchange), SubscriptionFilter), Error> {
    let opened = async {
        let id = RequestId::from(core.wire.next_id());
        let meta = match filter.task_ids {
            Some(_) => core.task_meta(),
            None => core.plain_meta(),
        };
        let params = SubscriptionsListenRequestParams::new(meta, filter.clone());
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

type Incoming<'a> = Message<
    'a,
    Option<&'a RawValue>,
    Or<ServerNotification, tasks::ServerNotification>,
    Complete<SubscriptionsListenResult>,
>;

fn decode(bytes: &[u8]) -> Result<Incoming<'_>, Error> {
    Incoming::decode(bytes).map_err(|error| Fault::Decode(error.into()).into())
}

enum StreamEvent {
    Change(Change),
    End,
    Nothing,
    Refused(Error),
}

fn read(id: &RequestId, bytes: &[u8]) -> StreamEvent {
    let said = match decode(bytes) {
        Ok(Message::Notification(notification)) => notification.params,
        Ok(Message::Result(response)) if response.id == *id => return StreamEvent::End,
        Ok(Message::Error(response)) => {
            let error = response.error;
            let status = None;
            return StreamEvent::Refused(Fault::Refused { error, status }.into());
        }
        // Unknown notifications are ignored.
        _ => return StreamEvent::Nothing,
    };
    StreamEvent::Change(match said {
        Or::First(ServerNotification::Cancelled(cancelled)) if cancelled.request_id == *id => {
            return StreamEvent::End;
        }
        Or::First(ServerNotification::PromptListChanged(_)) => Change::Prompts,
        Or::First(ServerNotification::ResourceListChanged(_)) => Change::Resources,
        Or::First(ServerNotification::ResourceUpdated(updated)) => Change::Resource(updated.uri),
        Or::First(ServerNotification::ToolListChanged(_)) => Change::Tools,
        Or::Second(tasks::ServerNotification::TaskStatusChanged(changed)) => {
            Change::Task(Box::new(changed.task))
        }
        _ => return StreamEvent::Nothing,
    })
}

const MOST_FAILURES: u32 = 5;
