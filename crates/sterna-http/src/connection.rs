//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
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
use super::connections::Admitted;
use super::endpoint::Endpoint;
use super::monitor::{ConnectionMonitor, ConnectionState, Urgency};
use super::pipeline::{ConnectionInfo, Shared};
use super::socket::Socket;
use super::unread::PIECE;

/// Serves HTTP/1.1 or HTTP/2, as the peer chooses, until the peer leaves, stalls,
/// or the server goes away.
pub(super) async fn serve_connection<E: Endpoint>(
    shared: Arc<Shared<E>>,
    stream: TcpStream,
    info: ConnectionInfo,
    monitor: Arc<ConnectionMonitor>,
) {
    let timeouts = &shared.config.timeouts;
    let socket = Socket::new(stream, Arc::clone(&monitor));
    let only_probes = info.admitted == Admitted::ForProbes;
    let info = Arc::new(info);
    let service = service_fn(|request| {
        let (shared, info) = (Arc::clone(&shared), Arc::clone(&info));
        async move { Ok::<_, Infallible>(shared.answer(request, &info).await) }
    });
    let builder = protocol(shared.config.limits.head_bytes, timeouts.keep_alive);
    let mut http = pin!(builder.serve_connection(socket, service));
    let mut leaving = pin!(shared.closing.begun());
    let (mut told, mut let_go) = (false, false);
    let mut timer = pin!(sleep_until((clock::now() + timeouts.head).into()));
    // All futures here share the waker of the task, so one poll registers it.
    let (mut listens, mut is_set) = (false, false);
    let _reading = shared.readers.add(&monitor);
    poll_fn(|cx| {
        loop {
            if http.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            if !told && only_probes && monitor.has_been_used() {
                // HTTP/2: the peer is to come again on another connection.
                told = true;
                http.as_mut().graceful_shutdown();
                continue;
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
                false => {
                    monitor.watched_by(cx.waker());
                    timer.as_mut().poll(cx).is_ready()
                }
            };
            match monitor.urgency() {
                Urgency::LetGo => {
                    // Said to an HTTP/2 peer, if the socket takes it at once.
                    http.as_mut().graceful_shutdown();
                    let _ = http.as_mut().poll(cx);
                    return Poll::Ready(());
                }
                Urgency::None if !fired => return Poll::Pending,
                Urgency::None | Urgency::Pressing => {}
            }
            match monitor.assess(timeouts, clock::now()) {
                ConnectionState::Active(due) if fired || timer.deadline() > due.into() => {
                    timer.as_mut().reset(due.into());
                    is_set = false;
                }
                ConnectionState::Active(_) => return Poll::Pending,
                ConnectionState::Idle if let_go => return Poll::Ready(()),
                ConnectionState::Idle => {
                    let_go = true;
                    http.as_mut().graceful_shutdown();
                    timer.as_mut().reset((clock::now() + timeouts.write).into());
                    is_set = false;
                }
                ConnectionState::Stalled(why) => {
                    shared.metrics.cut(why);
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
        // What a peer may send before anything of it is read.
        .initial_connection_window_size(WINDOW)
        .initial_stream_window_size(WINDOW)
        .max_send_buf_size(PIECE)
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

/// 256 KiB: a body of 4 MiB takes sixteen round trips, and a thousand
/// connections whose bytes wait to be read a quarter of a gigabyte.
const WINDOW: u32 = 256 << 10;
