//! What becomes of a request that has been looked at.

use std::pin::Pin;

use http::Response;

use sterna_http::ResponseBody;

/// An answer, or the work that leads to one.
///
/// Everything up to the call of a handler is plain code on the stack. Written
/// as futures within futures it would leave each connection with a copy of the
/// request for every function that it passes through.
pub(crate) enum Served {
    Later(Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>),
    Now(Response<ResponseBody>),
}

impl Served {
    pub(crate) fn later(
        work: impl Future<Output = Response<ResponseBody>> + Send + 'static,
    ) -> Self {
        Self::Later(Box::pin(work))
    }

    /// The answer, once it is there.
    pub(crate) async fn finish(self) -> Response<ResponseBody> {
        match self {
            Self::Later(work) => work.await,
            Self::Now(response) => response,
        }
    }
}
