//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::clock;
use super::endpoint::Endpoint;
use super::pipeline::{Shared, Visit};
use super::pulse::{Condition, Pulse};
use super::socket::Socket;

/// Serves HTTP/1.1 or HTTP/2, whichever the peer begins to speak, until the
/// peer leaves, holds us up, or the server goes away.
pub(super) async fn connection<E: Endpoint>(
    shared: Arc<Shared<E>>,
    stream: TcpStream,
    peer: SocketAddr,
    bound: Option<SocketAddr>,
) {
    let timeouts = &shared.config.timeouts;
    let pulse = Pulse::new(clock::now());
    let socket = Socket::new(stream, Arc::clone(&pulse));
    let visit = Arc::new(Visit {
        peer: Some(peer),
        bound,
        pulse: Some(Arc::clone(&pulse)),
        ..Visit::default()
    });
    let service = service_fn(|request| {
        let (shared, visit) = (Arc::clone(&shared), Arc::clone(&visit));
        async move { Ok::<_, Infallible>(shared.answer(request, &visit).await) }
    });
    let builder = protocol(shared.config.limits.head_bytes, timeouts.keep_alive);
    let mut http = pin!(builder.serve_connection(socket, service));
    let mut leaving = pin!(shared.closing.begun());
    let (mut told, mut let_go) = (false, false);
    let mut timer = pin!(sleep_until((clock::now() + timeouts.head).into()));
    // A task keeps its waker: whoever has been polled once knows whom to wake.
    let (mut listens, mut is_set) = (false, false);
    poll_fn(|cx| {
        loop {
            if http.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            if !told && (!listens || shared.closing.has_begun()) {
                listens = true;
                if leaving.as_mut().poll(cx).is_ready() {
                    told = true;
                    http.as_mut().graceful_shutdown();
                    continue;
                }
            }
            let fired = match std::mem::replace(&mut is_set, true) {
                true => timer.is_elapsed(),
                false => timer.as_mut().poll(cx).is_ready(),
            };
            if !fired && !pulse.is_pressing() {
                return Poll::Pending;
            }
            match pulse.condition(timeouts, clock::now()) {
                Condition::Well(due) if fired || timer.deadline() > due.into() => {
                    timer.as_mut().reset(due.into());
                    is_set = false;
                }
                Condition::Well(_) => return Poll::Pending,
                Condition::Unused if let_go => return Poll::Ready(()),
                Condition::Unused => {
                    let_go = true;
                    http.as_mut().graceful_shutdown();
                    timer.as_mut().reset((clock::now() + timeouts.write).into());
                    is_set = false;
                }
                Condition::Stuck(why) => {
                    shared.numbers.cut(why);
                    return Poll::Ready(());
                }
            }
        }
    })
    .await;
}

fn protocol(head_bytes: usize, ping: Duration) -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(Streams::default());
    builder
        .http1()
        // Hyper refuses less than this; the exact limit is checked with the rest of the head.
        .max_buf_size(head_bytes.max(8192));
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(ping)
        .max_header_list_size(u32::try_from(head_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(STREAMS);
    builder
}

/// The requests of an HTTP/2 connection, each a task that dies with it.
#[derive(Clone, Debug, Default)]
struct Streams(Arc<Mutex<JoinSet<()>>>);

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while streams.try_join_next().is_some() {}
        streams.spawn(stream);
    }
}

/// Requests at once on one HTTP/2 connection: what browsers and proxies use.
const STREAMS: u32 = 128;
