//! The edge as a service.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::body::EdgeBody;
use super::config::EdgeConfig;
use super::endpoint::Endpoint;
use super::error::ConfigError;
use super::health::Probes;
use super::pipeline::{Shared, Visit};
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
/// # use sterna_server::edge::{EdgeBody, Endpoint, Inbound, reply};
/// # struct Echo;
/// # impl Endpoint for Echo {
/// #     async fn call(&self, inbound: Inbound) -> Response<EdgeBody> {
/// #         reply::json(StatusCode::OK, inbound.body)
/// #     }
/// # }
/// use sterna_server::auth::Gate;
/// use sterna_server::edge::{Edge, EdgeConfig, Probes, interrupted};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let edge = Edge::new(Echo, Gate::open(), Probes::new(), EdgeConfig::default())?;
/// edge.serve("127.0.0.1:8080", interrupted()).await?;
/// # Ok(()) }
/// ```
pub struct Edge<E>(pub(super) Arc<Shared<E>>);

impl<E: Endpoint> Edge<E> {
    /// Guards `endpoint`: `gate` says who may call, `probes` what operators
    /// see.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] names the entry of `config` that cannot be used.
    pub fn new(
        endpoint: E,
        gate: Gate,
        probes: Probes,
        config: EdgeConfig,
    ) -> Result<Self, ConfigError> {
        Shared::new(endpoint, gate, probes, config).map(|shared| Self(Arc::new(shared)))
    }

    /// The signal that ends the server; [`begin`](Shutdown::begin) it to stop.
    #[must_use]
    pub fn shutdown(&self) -> &Shutdown {
        &self.0.shutdown
    }

    pub(crate) fn config(&self) -> &EdgeConfig {
        &self.0.config
    }
}

impl<E> Clone for Edge<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> fmt::Debug for Edge<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge").finish_non_exhaustive()
    }
}

impl<E, B> Service<Request<B>> for Edge<E>
where
    E: Endpoint,
    B: Body<Data: Send, Error: Send> + Send + 'static,
{
    type Response = Response<EdgeBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<EdgeBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        let peer = request.extensions().get().map(|Peer(address)| *address);
        let visit = Visit {
            peer,
            ..Visit::default()
        };
        Box::pin(async move { Ok(shared.answer(request, &visit).await) })
    }
}

/// Where a request comes from, for a service that does not accept connections
/// itself: put it into the request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an address is all it ever is")]
pub struct Peer(pub SocketAddr);
