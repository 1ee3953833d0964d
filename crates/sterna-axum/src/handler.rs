//! Async functions of an author, with axum's extractors.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};

use crate::cx::Cx;

/// An async function or async closure that serves a pausing route.
///
/// It takes a [`Cx`], then any of axum's extractors, the last of which may
/// consume the body: as an axum handler, with a context before it. Extractors
/// run in every round.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pausing handler",
    label = "not an async function or async closure of `Cx<'_>` and up to eight extractors",
    note = "a handler is an `async fn(Cx<'_>, State<S>, Json<T>) -> R` or `async move |cx: Cx<'_>, Json(args): Json<T>| {{ … }}`",
    note = "the captures of a closure must be `Clone`: wrap them in an `Arc`"
)]
pub trait PausingHandler<'a, P> {
    /// Type that the handler returns.
    type Output;
    /// Future of one call.
    type Future: Future<Output = Self::Output>;

    /// Begins a call.
    fn call(&self, cx: Cx<'a>, params: P) -> Self::Future;
}

/// Extractors of a [`PausingHandler`]. Implemented for tuples of them.
pub trait Extract<S, M>: Sized + Send + 'static {
    /// Runs the extractors.
    ///
    /// # Errors
    ///
    /// The rejection of the first that fails.
    #[doc(hidden)]
    fn extract(request: Request, state: &S) -> impl Future<Output = Result<Self, Response>> + Send;
}

/// A call in progress: the response, or one with an error status.
pub(crate) type Boxed = Pin<Box<dyn Future<Output = Result<Response, Response>> + Send>>;

/// Handler of a route, without its types.
pub(crate) struct ErasedHandler<S> {
    start: Arc<Start<S>>,
    extract: Arc<TryExtract<S>>,
}

type Start<S> = dyn Fn(Cx<'static>, Request, S) -> Boxed + Send + Sync;

/// Extraction in progress: nothing, or the rejection.
type Extraction = Pin<Box<dyn Future<Output = Result<(), Response>> + Send>>;

type TryExtract<S> = dyn Fn(Request, S) -> Extraction + Send + Sync;

impl<S> ErasedHandler<S> {
    /// Runs the extractors, then the handler.
    pub(crate) fn start(&self, cx: Cx<'static>, request: Request, state: S) -> Boxed {
        (self.start)(cx, request, state)
    }

    /// Runs the extractors alone.
    ///
    /// # Errors
    ///
    /// The rejection of the first that fails.
    pub(crate) async fn try_extract(&self, request: Request, state: S) -> Result<(), Response> {
        (self.extract)(request, state).await
    }
}

impl<S> Clone for ErasedHandler<S> {
    fn clone(&self) -> Self {
        Self {
            start: Arc::clone(&self.start),
            extract: Arc::clone(&self.extract),
        }
    }
}

/// Takes the types from `handler`.
pub(crate) fn erase<H, P, M, S, R>(handler: H) -> ErasedHandler<S>
where
    H: for<'a> PausingHandler<'a, P, Output = R> + Send + Sync + 'static,
    <H as PausingHandler<'static, P>>::Future: Send + 'static,
    P: Extract<S, M>,
    S: Send + Sync + 'static,
    R: IntoResponse,
{
    let handler = Arc::new(handler);
    let start: Arc<Start<S>> = Arc::new(move |cx, request, state| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            let params = P::extract(request, &state).await?;
            boxed(handler.call(cx, params)).await
        })
    });
    let extract: Arc<TryExtract<S>> = Arc::new(|request, state| {
        Box::pin(async move { P::extract(request, &state).await.map(drop) })
    });
    ErasedHandler { start, extract }
}

/// Boxes a call with what becomes of its output.
///
/// A function of its own: in it the compiler need not show that the future is
/// `Send` for every lifetime of its context.
fn boxed<F>(running: F) -> Boxed
where
    F: Future<Output: IntoResponse> + Send + 'static,
{
    Box::pin(async move {
        let response = running.await.into_response();
        let status = response.status();
        // An error fails the flow, so that its compensations run.
        match status.is_client_error() || status.is_server_error() {
            true => Err(response),
            false => Ok(response),
        }
    })
}

impl<'a, F, Fut> PausingHandler<'a, ()> for F
where
    F: FnOnce(Cx<'a>) -> Fut + Clone,
    Fut: Future,
{
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, cx: Cx<'a>, (): ()) -> Fut {
        self.clone()(cx)
    }
}

impl<S: Sync> Extract<S, ()> for () {
    async fn extract(_: Request, _: &S) -> Result<Self, Response> {
        Ok(())
    }
}

/// Implements the traits for extractors of which all but the last read the
/// head of the request.
macro_rules! handler_of {
    ($($head:ident)*, $last:ident) => {
        // Not `Fn`: the future of an async closure borrows from the closure. Called by value it
        // owns the clone that it works on.
        impl<'a, F, Fut, $($head,)* $last> PausingHandler<'a, ($($head,)* $last,)> for F
        where
            F: FnOnce(Cx<'a>, $($head,)* $last) -> Fut + Clone,
            Fut: Future,
        {
            type Output = Fut::Output;
            type Future = Fut;

            #[expect(non_snake_case, reason = "a type and its value have one name")]
            fn call(&self, cx: Cx<'a>, ($($head,)* $last,): ($($head,)* $last,)) -> Fut {
                self.clone()(cx, $($head,)* $last)
            }
        }

        impl<S, M, $($head,)* $last> Extract<S, (M, $last)> for ($($head,)* $last,)
        where
            S: Send + Sync,
            $($head: FromRequestParts<S> + Send + 'static,)*
            $last: FromRequest<S, M> + Send + 'static,
        {
            #[allow(non_snake_case, unused_mut, clippy::allow_attributes, reason = "a type and its value have one name; one extractor has no head")]
            async fn extract(request: Request, state: &S) -> Result<Self, Response> {
                let (mut parts, body) = request.into_parts();
                $(let $head = $head::from_request_parts(&mut parts, state)
                    .await
                    .map_err(IntoResponse::into_response)?;)*
                let request = Request::from_parts(parts, body);
                let last = $last::from_request(request, state).await;
                Ok(($($head,)* last.map_err(IntoResponse::into_response)?,))
            }
        }
    };
}

handler_of!(, A);
handler_of!(A, B);
handler_of!(A B, C);
handler_of!(A B C, D);
handler_of!(A B C D, E);
handler_of!(A B C D E, G);
handler_of!(A B C D E G, H);
handler_of!(A B C D E G H, I);
