//! One GET, by hand: a client with pools and redirects would be for others.

use std::future::poll_fn;
use std::pin::{Pin, pin};

use bytes::{Buf, Bytes, BytesMut};
use http::header::{ACCEPT, HOST};
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use sterna_http::auth::SourceError;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) async fn fetch(uri: Uri, tls: Option<TlsConnector>) -> Result<Bytes, SourceError> {
    let host = uri.host().unwrap_or_default();
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let usual = if tls.is_some() { 443 } else { 80 };
    let port = uri.port_u16().unwrap_or(usual);
    let stream = TcpStream::connect((host.as_str(), port))
        .await
        .map_err(SourceError::new)?;
    match tls {
        None => get(uri, TokioIo::new(stream)).await,
        Some(tls) => {
            let name = ServerName::try_from(host).map_err(SourceError::new)?;
            let stream = tls.connect(name, stream).await.map_err(SourceError::new)?;
            get(uri, TokioIo::new(stream)).await
        }
    }
}

async fn get<S>(uri: Uri, stream: S) -> Result<Bytes, SourceError>
where
    S: Read + Write + Unpin + Send + 'static,
{
    let request = request(&uri)?;
    let (mut sender, connection) = http1::handshake(stream).await.map_err(SourceError::new)?;
    let exchange = async {
        let response = sender
            .send_request(request)
            .await
            .map_err(SourceError::new)?;
        match response.status() {
            StatusCode::OK => whole(response.into_body()).await,
            status => Err(SourceError::new(format!(
                "the answer's status is {}",
                status.as_u16()
            ))),
        }
    };
    // Both are polled here: nothing is spawned, and dropping the fetch ends the connection.
    let (mut connection, mut exchange) = (pin!(connection), pin!(exchange));
    let mut open = true;
    poll_fn(|cx| {
        if open && connection.as_mut().poll(cx).is_ready() {
            open = false;
        }
        exchange.as_mut().poll(cx)
    })
    .await
}

fn request(uri: &Uri) -> Result<Request<Empty>, SourceError> {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::new(Empty);
    *request.uri_mut() = target.parse().map_err(SourceError::new)?;
    let host = HeaderValue::from_str(host).map_err(SourceError::new)?;
    request.headers_mut().insert(HOST, host);
    let json = HeaderValue::from_static("application/json, application/jwk-set+json");
    request.headers_mut().insert(ACCEPT, json);
    Ok(request)
}

async fn whole(body: Incoming) -> Result<Bytes, SourceError> {
    let mut body = pin!(body);
    let mut whole = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let Ok(data) = frame.map_err(SourceError::new)?.into_data() else {
            continue;
        };
        if whole.len() + data.remaining() > MOST {
            return Err(SourceError::new("the answer is too long"));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// The body of a GET.
struct Empty;

impl Body for Empty {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        true
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(0)
    }
}

/// A key set is a few kilobytes; what sends this much is something else.
const MOST: usize = 512 * 1024;
