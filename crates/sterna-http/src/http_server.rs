//! The server as a tower service.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::body::ResponseBody;
use super::config::ConfigError;
use super::config::HttpConfig;
use super::endpoint::Endpoint;
use super::health::Probes;
use super::pipeline::{ConnectionInfo, Shared};
use super::shutdown::Shutdown;
use crate::auth::Gate;

/// Everything between the network and an [`Endpoint`].
///
/// A tower service for any `http` request, cheap to clone; or a whole server,
/// with [`serve`](Self::serve). Inside another router mount it at the root, as
/// a fallback, so that it sees the well-known paths too.
///
/// # Examples
///
/// ```no_run
/// # use http::{Response, StatusCode};
/// # use sterna_http::{ResponseBody, Endpoint, Inbound, reply};
/// # struct Echo;
/// # impl Endpoint for Echo {
/// #     async fn call(&self, inbound: Inbound) -> Response<ResponseBody> {
/// #         reply::json(StatusCode::OK, inbound.body)
/// #     }
/// # }
/// use sterna_http::auth::Gate;
/// use sterna_http::{HttpServer, HttpConfig, Probes, interrupted};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = HttpServer::new(Echo, Gate::open(), Probes::new(), HttpConfig::default())?;
/// server.serve("127.0.0.1:8080", interrupted()).await?;
/// # Ok(()) }
/// ```
pub struct HttpServer<E>(pub(super) Arc<Shared<E>>);

impl<E: Endpoint> HttpServer<E> {
    /// Guards `endpoint`: `gate` decides which callers may call it, and `probes`
    /// has the checks and metrics for operators.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] names the entry of `config` that cannot be used.
    pub fn new(
        endpoint: E,
        gate: Gate,
        probes: Probes,
        config: HttpConfig,
    ) -> Result<Self, ConfigError> {
        Shared::new(endpoint, gate, probes, config).map(|shared| Self(Arc::new(shared)))
    }

    /// The signal that ends the server; [`begin`](Shutdown::begin) it to stop.
    #[must_use]
    pub fn shutdown(&self) -> &Shutdown {
        &self.0.shutdown
    }

    /// The configuration that the server was made with.
    #[must_use]
    pub fn config(&self) -> &HttpConfig {
        &self.0.config
    }
}

impl<E> Clone for HttpServer<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> fmt::Debug for HttpServer<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").finish_non_exhaustive()
    }
}

impl<E, B> Service<Request<B>> for HttpServer<E>
where
    E: Endpoint,
    B: Body<Data: Send, Error: Send> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        let peer = request.extensions().get().map(|Peer(address)| *address);
        let connection = ConnectionInfo {
            peer,
            ..ConnectionInfo::default()
        };
        Box::pin(async move { Ok(shared.answer(request, &connection).await) })
    }
}

/// Address of the client, for a service that does not accept connections itself:
/// put it into the request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an address is all it ever is")]
pub struct Peer(pub SocketAddr);
