//! What becomes of a request that has been looked at.

use std::pin::Pin;

use http::Response;

use crate::edge::EdgeBody;

/// An answer, or the work that leads to one.
///
/// Everything up to the call of a handler is plain code on the stack. Written
/// as futures within futures it would leave each connection with a copy of the
/// request for every function that it passes through.
pub(crate) enum Served {
    Later(Pin<Box<dyn Future<Output = Response<EdgeBody>> + Send>>),
    Now(Response<EdgeBody>),
}

impl Served {
    pub(crate) fn later(work: impl Future<Output = Response<EdgeBody>> + Send + 'static) -> Self {
        Self::Later(Box::pin(work))
    }

    /// The answer, once it is there.
    pub(crate) async fn finish(self) -> Response<EdgeBody> {
        match self {
            Self::Later(work) => work.await,
            Self::Now(response) => response,
        }
    }
}
