//! A round-robin proxy that notes who answered what.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::http::response::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::environment;

/// The proxy; dropped, it is gone.
#[derive(Debug)]
pub(super) struct Proxy {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    _running: JoinSet<()>,
}

#[derive(Debug)]
struct State {
    replicas: Vec<(char, SocketAddr)>,
    next: usize,
    last: Option<Exchange>,
    loses_next: bool,
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// Which replica answered.
    pub(super) replica: char,
    /// Duration of the request.
    pub(super) took: Duration,
    /// Length of the request state in characters.
    pub(super) state: usize,
}

impl Proxy {
    pub(super) async fn start(replicas: Vec<(char, SocketAddr)>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("no port is free")?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State {
            replicas,
            next: 0,
            last: None,
            loses_next: false,
        }));
        let mut running = JoinSet::new();
        running.spawn(accept(listener, Arc::clone(&state)));
        Ok(Self {
            address,
            state,
            _running: running,
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Tells it of replicas that have moved.
    pub(super) fn set_replicas(&self, replicas: Vec<(char, SocketAddr)>) {
        self.lock().replicas = replicas;
    }

    /// Loses the next answer after a replica has given it.
    pub(super) fn lose_next(&self) {
        self.lock().loses_next = true;
    }

    /// The last exchange.
    pub(super) fn last(&self) -> Option<Exchange> {
        self.lock().last.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let service = service_fn(|request| forward(request, &state));
            let connection = hyper::server::conn::http1::Builder::new();
            // A connection that breaks concerns only its client.
            let _ = connection
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// Hands a request to the next replica that can be reached.
///
/// # Errors
///
/// The answer is lost: the connection breaks without one.
async fn forward(
    request: Request<Incoming>,
    state: &Mutex<State>,
) -> Result<Response<Full<Bytes>>, Lost> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let body = body.to_bytes();
    let start = environment::instant();
    for (replica, address) in in_turn(state) {
        let request = Request::from_parts(head.clone(), Full::new(body.clone()));
        let Ok((head, answer)) = exchange(address, request).await else {
            continue;
        };
        let seen = Exchange {
            replica,
            took: start.elapsed(),
            state: state_len(&answer),
        };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last = Some(seen);
        if std::mem::take(&mut state.loses_next) {
            return Err(Lost);
        }
        let mut response = Response::from_parts(head, Full::new(answer));
        // Inspectors show by it which replica answered.
        let name = HeaderValue::from_str(&replica.to_string());
        let name = name.unwrap_or(HeaderValue::from_static("?"));
        response.headers_mut().insert("x-served-by", name);
        return Ok(response);
    }
    Ok(status(StatusCode::BAD_GATEWAY))
}

/// An answer that was given and never arrived.
#[derive(Debug)]
struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer was lost")
    }
}

impl std::error::Error for Lost {}

/// All replicas, beginning with the one whose turn it is.
fn in_turn(state: &Mutex<State>) -> Vec<(char, SocketAddr)> {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut replicas = state.replicas.clone();
    if !replicas.is_empty() {
        let turn = state.next % replicas.len();
        replicas.rotate_left(turn);
    }
    state.next = state.next.wrapping_add(1);
    replicas
}

async fn exchange(address: SocketAddr, request: Request<Full<Bytes>>) -> Result<(Parts, Bytes)> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let answer = async {
        let (mut head, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        // The body goes on whole, however it was chunked.
        head.headers.remove(hyper::header::TRANSFER_ENCODING);
        head.headers.remove(hyper::header::CONNECTION);
        drop(sender);
        anyhow::Ok((head, body))
    };
    let (answer, _) = tokio::join!(answer, connection);
    answer
}

fn state_len(answer: &Bytes) -> usize {
    let json: Value = serde_json::from_slice(answer).unwrap_or_default();
    json["result"]["requestState"].as_str().map_or(0, str::len)
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
