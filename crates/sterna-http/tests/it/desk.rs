//! A server for the tests, whose endpoint does what the body tells it.

use std::borrow::Cow;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderMap, Response, StatusCode};
use sterna_http::auth::Gate;
use sterna_http::{
    DrainReport, Endpoint, HttpConfig, HttpServer, Inbound, Operation, Probes, ResponseBody,
    Shutdown, reply,
};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::wire::Wire;

/// An endpoint that does what the body tells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk(Arc<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Calls that have begun.
    pub(crate) begun: AtomicUsize,
    /// Calls that have ended in any way.
    pub(crate) ended: AtomicUsize,
    /// Told whenever one of the two grows.
    pub(crate) moved: Notify,
    /// Lets every call that waits go on.
    pub(crate) release: Notify,
}

impl Endpoint for Desk {
    fn operation<'a>(&self, headers: &'a HeaderMap) -> Option<Operation<'a>> {
        let text = |name| headers.get(name)?.to_str().ok().map(Cow::Borrowed);
        Some(Operation {
            method: text("mcp-method")?,
            name: text("mcp-name"),
        })
    }

    async fn call(&self, inbound: Inbound) -> Response<ResponseBody> {
        let running = Running::begin(&self.0);
        let body = String::from_utf8(inbound.body.to_vec()).unwrap();
        let (verb, rest) = body.split_once(' ').unwrap_or((&body, ""));
        let answer = match verb {
            "accepts" => format!("{:?}", inbound.accepts),
            "ask" => {
                let now = tokio::time::Instant::now().into_std();
                match inbound
                    .admission
                    .charge_questions(rest.parse().unwrap(), now)
                {
                    Ok(()) => "asked".to_owned(),
                    Err(refusal) => return refusal.into_response(),
                }
            }
            "may" => match inbound.admission.may("tools/call", Some(rest)) {
                Ok(()) => "yes".to_owned(),
                Err(refusal) => return refusal.into_response(),
            },
            "panic" => panic!("as told"),
            "size" => body.len().to_string(),
            "wait" => {
                self.0.release.notified().await;
                "waited".to_owned()
            }
            "headers" => format!("{:?}", inbound.head.headers),
            "big" => "x".repeat(64 << 20),
            "hang" => std::future::pending().await,
            "stream" => return stream(running, &inbound, &self.0, rest),
            "listen" => return listen(running, &inbound),
            "flood" => return flood(running, &inbound),
            "who" => format!("{:?}", inbound.admission.caller().principal().subject()),
            _ => body,
        };
        reply::json(StatusCode::OK, answer)
    }
}

/// Says `word`, then waits, then says `last`; or panics in between.
fn stream(
    running: Running,
    inbound: &Inbound,
    state: &Arc<State>,
    word: &str,
) -> Response<ResponseBody> {
    let (outbox, inbox) = inbound.outbox();
    let state = Arc::clone(state);
    let word = word.to_owned();
    let call = async move {
        let _running = running;
        outbox.push(format!("data: {word}\n\n").into()).unwrap();
        state.release.notified().await;
        assert_ne!(word, "panic");
    };
    let speaking = StreamingCall {
        call: Some(Box::pin(call)),
        inbox,
    };
    reply::events(speaking)
}

/// Waits for the server to go away, and says goodbye.
fn listen(running: Running, inbound: &Inbound) -> Response<ResponseBody> {
    let (outbox, inbox) = inbound.outbox();
    let shutdown = inbound.shutdown.clone();
    let call = async move {
        let _running = running;
        outbox.push("data: hello\n\n".into()).unwrap();
        shutdown.begun().await;
        outbox.push("data: goodbye\n\n".into()).unwrap();
    };
    reply::listening(StreamingCall {
        call: Some(Box::pin(call)),
        inbox,
    })
}

/// Sends events without end, faster than a client can read.
fn flood(running: Running, inbound: &Inbound) -> Response<ResponseBody> {
    let (outbox, inbox) = inbound.outbox();
    let call = async move {
        let _running = running;
        loop {
            outbox.room(1 << 14).await;
            if outbox.push(vec![b'x'; 1 << 14].into()).is_err() {
                return;
            }
        }
    };
    reply::events(StreamingCall {
        call: Some(Box::pin(call)),
        inbox,
    })
}

/// A call and what it says, polled together.
struct StreamingCall {
    call: Option<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>,
    inbox: sterna_http::Inbox,
}

impl sterna_http::Events for StreamingCall {
    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<bytes::Bytes>> {
        use std::task::Poll;
        if let Some(call) = &mut self.call
            && call.as_mut().poll(cx).is_ready()
        {
            self.call = None;
        }
        match self.inbox.poll_event(cx) {
            Poll::Ready(Some(event)) => Poll::Ready(Some(event)),
            _ if self.call.is_none() => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }
}

/// A call on its way, counted.
struct Running(Arc<State>);

impl Running {
    fn begin(state: &Arc<State>) -> Self {
        state.begun.fetch_add(1, Ordering::SeqCst);
        state.moved.notify_waiters();
        Self(Arc::clone(state))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
        self.0.moved.notify_waiters();
    }
}

/// A server at work.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) state: Arc<State>,
    pub(crate) shutdown: Shutdown,
    serving: JoinSet<DrainReport>,
}

impl Server {
    pub(crate) fn start(change: impl FnOnce(&mut HttpConfig)) -> Self {
        Self::guarded(Gate::open(), Probes::new(), change)
    }

    pub(crate) fn guarded(
        gate: Gate,
        probes: Probes,
        change: impl FnOnce(&mut HttpConfig),
    ) -> Self {
        let mut config = HttpConfig::default();
        change(&mut config);
        let desk = Desk::default();
        let state = Arc::clone(&desk.0);
        let edge = HttpServer::new(desk, gate, probes, config).unwrap();
        let shutdown = edge.shutdown().clone();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let never = std::future::pending();
            edge.serve_on(listener, never).await.unwrap()
        });
        Self {
            address,
            state,
            shutdown,
            serving,
        }
    }

    pub(crate) async fn connect(&self) -> Wire {
        Wire::connect(self.address).await
    }

    /// Waits until `count` calls have begun.
    pub(crate) async fn begun(&self, count: usize) {
        self.until(|state| &state.begun, count).await;
    }

    /// Waits until `count` calls have ended.
    pub(crate) async fn ended(&self, count: usize) {
        self.until(|state| &state.ended, count).await;
    }

    async fn until(&self, counter: impl Fn(&State) -> &AtomicUsize, count: usize) {
        loop {
            let mut moved = std::pin::pin!(self.state.moved.notified());
            moved.as_mut().enable();
            if counter(&self.state).load(Ordering::SeqCst) >= count {
                return;
            }
            moved.await;
        }
    }

    /// Lets every call that waits go on, once `count` of them have begun.
    pub(crate) async fn release(&self, count: usize) {
        self.begun(count).await;
        self.state.release.notify_waiters();
    }

    /// Stops the server and waits for its end.
    pub(crate) async fn stop(mut self) -> DrainReport {
        self.shutdown.begin();
        self.drained().await
    }

    /// Waits for its end.
    pub(crate) async fn drained(&mut self) -> DrainReport {
        self.serving.join_next().await.unwrap().unwrap()
    }
}

/// A time long enough never to matter in a test whose clock runs.
pub(crate) const NEVER: Duration = Duration::from_secs(3600);
