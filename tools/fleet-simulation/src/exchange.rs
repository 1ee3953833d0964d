//! One HTTP request and its response over the simulated network.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use turmoil::net::TcpStream;

/// A response that came back whole.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Nobody was there: the request has not reached anybody.
    NotSent,
    /// It may have been served, and may not.
    Unknown,
}

pub(crate) async fn exchange(
    host: &str,
    request: Request<Full<Bytes>>,
    patience: Duration,
) -> Result<Response, Lost> {
    let connecting = timeout(patience, TcpStream::connect((host, PORT))).await;
    let Ok(Ok(stream)) = connecting else {
        return Err(Lost::NotSent);
    };
    let talking = async {
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|_| Lost::Unknown)?;
        let asking = async move {
            let sent = sender.send_request(request).await;
            let (head, body) = sent.map_err(|_| Lost::Unknown)?.into_parts();
            let body = body.collect().await.map_err(|_| Lost::Unknown)?;
            Ok(Response {
                status: head.status.as_u16(),
                headers: head.headers,
                body: body.to_bytes(),
            })
        };
        // Whatever ends the connection, the request hears of it.
        let (response, _) = tokio::join!(asking, connection);
        response
    };
    timeout(patience, talking)
        .await
        .unwrap_or(Err(Lost::Unknown))
}

/// Where everybody listens.
pub(crate) const PORT: u16 = 80;
