//! One message per line over any pair of byte streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use serde::Deserialize;
use sterna_protocol::cancellation::CancelledNotificationParams;
use sterna_protocol::jsonrpc::{Message, Notification, RequestId};
use sterna_protocol::lines;
use sterna_protocol::methods::{self, Notification as _};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::{Exchange, Outgoing, Source, Transport};
use crate::error::{Error, Fault};
use crate::oauth::BoxFuture;

/// A connection that all requests share.
#[derive(Debug)]
pub(crate) struct Lines {
    desk: Arc<Desk>,
    overheard: Mutex<Option<mpsc::Receiver<Vec<u8>>>>,
    place: String,
    /// The reader and the writer; they end with this value.
    _tasks: JoinSet<()>,
}

impl Lines {
    pub(crate) fn new(
        place: String,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        max_message: usize,
    ) -> Self {
        let (outbox, letters) = mpsc::channel(BACKLOG);
        let (unasked, overheard) = mpsc::channel(BACKLOG);
        let desk = Arc::new(Desk {
            outbox: Mutex::new(Some(outbox)),
            waiting: Mutex::new(Some(HashMap::new())),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(write(writer, letters));
        tasks.spawn(read(reader, desk.clone(), unasked, max_message));
        Self {
            desk,
            overheard: Mutex::new(Some(overheard)),
            place,
            _tasks: tasks,
        }
    }

    /// Whether nothing can be asked here any more.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.desk.waiting).is_none()
    }

    /// Writes nothing more, which tells the server to end.
    pub(crate) fn hang_up(&self) {
        lock(&self.desk.outbox).take();
    }
}

impl Transport for Lines {
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>> {
        Box::pin(async move {
            let id = request.id.ok_or(Fault::Broken("a request without an id"))?;
            let waiting = self.desk.wait_for(id)?;
            self.desk.send(request.body).await?;
            Ok(Exchange::new(waiting))
        })
    }

    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.desk.send(message.body))
    }

    fn overhear(&self, _: HeaderMap) -> BoxFuture<'_, Result<Option<Exchange>, Error>> {
        let receiver = lock(&self.overheard).take();
        Box::pin(async move { Ok(receiver.map(|receiver| Exchange::new(Overheard(receiver)))) })
    }

    fn close(&self, _: HeaderMap) -> BoxFuture<'_, ()> {
        self.hang_up();
        Box::pin(async {})
    }

    fn has_headers(&self) -> bool {
        false
    }

    fn place(&self) -> &str {
        &self.place
    }
}

/// Where requests wait for their answers.
#[derive(Debug)]
struct Desk {
    /// Gone once we have hung up.
    outbox: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    /// Gone once the server has.
    waiting: Mutex<Option<HashMap<RequestId, Slot>>>,
}

#[derive(Debug)]
struct Slot {
    notices: mpsc::Sender<Vec<u8>>,
    answer: oneshot::Sender<Vec<u8>>,
}

impl Desk {
    fn wait_for(self: &Arc<Self>, id: RequestId) -> Result<Waiting, Error> {
        let (notices, heard) = mpsc::channel(BACKLOG);
        let (answer, answered) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        let slots = waiting.as_mut().ok_or(Fault::Closed)?;
        slots.insert(id.clone(), Slot { notices, answer });
        Ok(Waiting {
            desk: self.clone(),
            id,
            heard,
            answered: Some(answered),
        })
    }

    async fn send(&self, mut body: Vec<u8>) -> Result<(), Error> {
        let outbox = lock(&self.outbox).clone().ok_or(Fault::Closed)?;
        let mut line = Vec::with_capacity(body.len() + 1);
        let write = |line: &mut Vec<u8>| {
            line.append(&mut body);
            Ok::<(), Error>(())
        };
        lines::write(&mut line, write)?;
        outbox.send(line).await.map_err(|_| Fault::Closed.into())
    }

    /// Hands a line to whom it belongs; the rest is for whoever overhears.
    fn deliver(&self, line: &[u8], unasked: &mpsc::Sender<Vec<u8>>) {
        let mut waiting = lock(&self.waiting);
        let Some(slots) = waiting.as_mut() else {
            return;
        };
        let answered = match Message::raw(line) {
            Ok(Message::Result(response)) => Some(response.id),
            Ok(Message::Error(response)) => response.id,
            Ok(Message::Notification(notification)) => {
                let about = notification.params.and_then(|params| about(params.get()));
                let slot = match about {
                    Some(id) => slots.get(&id),
                    // STDIO-C4: nobody else can be meant if only one waits.
                    None if slots.len() == 1 => slots.values().next(),
                    None => None,
                };
                let sink = slot.map_or(unasked, |slot| &slot.notices);
                // Whoever does not listen misses something, but holds up nobody.
                sink.try_send(line.to_vec()).ok();
                return;
            }
            Ok(Message::Request(_)) => {
                unasked.try_send(line.to_vec()).ok();
                return;
            }
            // An answer that cannot be read is still the only one that will come.
            Err(error) => error.response_id().cloned(),
        };
        // CANCEL-C8: an answer nobody waits for is dropped.
        if let Some(slot) = answered.and_then(|id| slots.remove(&id)) {
            slot.answer.send(line.to_vec()).ok();
        }
    }
}

/// What a notification says about the request it belongs to.
fn about(params: &str) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "progressToken")]
        progress_token: Option<RequestId>,
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        subscription_id: Option<RequestId>,
    }
    let params: Params = serde_json::from_str(params).ok()?;
    let subscription = params.meta.and_then(|meta| meta.subscription_id);
    subscription.or(params.progress_token)
}

/// A request whose answer has not come.
struct Waiting {
    desk: Arc<Desk>,
    id: RequestId,
    heard: mpsc::Receiver<Vec<u8>>,
    answered: Option<oneshot::Receiver<Vec<u8>>>,
}

impl Source for Waiting {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            let Some(answered) = &mut self.answered else {
                return Ok(None);
            };
            let answer = tokio::select! {
                biased;
                Some(notice) = self.heard.recv() => return Ok(Some(notice)),
                answer = answered => answer,
            };
            self.answered = None;
            answer.map(Some).map_err(|_| Fault::Closed.into())
        })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let forgotten = lock(&self.desk.waiting)
            .as_mut()
            .and_then(|slots| slots.remove(&self.id));
        // CANCEL-C7: only what is still being worked on is taken back.
        if forgotten.is_none() {
            return;
        }
        let params = CancelledNotificationParams::new(self.id.clone());
        let notice = Notification::new(methods::Cancelled::METHOD, params);
        let mut line = Vec::new();
        if lines::write(&mut line, |line| notice.encode(line)).is_ok()
            && let Some(outbox) = &*lock(&self.desk.outbox)
        {
            // CANCEL-C2: without a stream of its own, a request is cancelled in words.
            outbox.try_send(line).ok();
        }
    }
}

struct Overheard(mpsc::Receiver<Vec<u8>>);

impl Source for Overheard {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async { Ok(self.0.recv().await) })
    }
}

async fn write(
    mut writer: impl AsyncWrite + Send + Unpin + 'static,
    mut letters: mpsc::Receiver<Vec<u8>>,
) {
    while let Some(letter) = letters.recv().await {
        if writer.write_all(&letter).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    writer.shutdown().await.ok();
}

async fn read(
    mut reader: impl AsyncRead + Send + Unpin + 'static,
    desk: Arc<Desk>,
    unasked: mpsc::Sender<Vec<u8>>,
    max_message: usize,
) {
    let _closing = Closing(desk.clone());
    let mut lines = lines::Reader::new(max_message);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        let mut chunk = &buffer[..read];
        loop {
            match lines.read(&mut chunk) {
                Ok(Some(line)) => desk.deliver(line, &unasked),
                Ok(None) => break,
                Err(_) => tracing::warn!(max_message, "a line of the server is too long"),
            }
        }
    }
}

/// Tells whoever waits that nothing will come, however reading ended.
struct Closing(Arc<Desk>);

impl Drop for Closing {
    fn drop(&mut self) {
        lock(&self.0.waiting).take();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many messages may wait for one who does not listen.
const BACKLOG: usize = 256;
