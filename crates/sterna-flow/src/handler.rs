//! Plain async functions as handlers.

use std::future::Future;

/// An async function of a context and its arguments.
///
/// Implemented for every `async fn(C, A) -> R` whose future is `Send`; require
/// it for all lifetimes of the context to take a function without a macro:
///
/// ```
/// use sterna_flow::{Cx, Handler};
///
/// fn register<H, A, R>(_name: &str, _handler: H)
/// where
///     H: for<'a> Handler<'a, Cx<'a>, A, Output = R>,
/// {
/// }
///
/// async fn greet(_cx: Cx<'_>, name: String) -> Result<String, String> {
///     Ok(format!("Hello, {name}!"))
/// }
///
/// register("greet", greet);
/// ```
///
/// `C` is a parameter so that a crate with a context of its own, wrapped around
/// [`Cx`](crate::Cx), can use the same trait.
pub trait Handler<'a, C, A> {
    /// What it returns.
    type Output;
    /// A call in progress.
    type Future: Future<Output = Self::Output> + Send + 'a;

    /// Begins a call.
    fn call(&self, cx: C, args: A) -> Self::Future;
}

impl<'a, C, A, F, Fut> Handler<'a, C, A> for F
where
    F: Fn(C, A) -> Fut,
    Fut: Future + Send + 'a,
{
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, cx: C, args: A) -> Fut {
        self(cx, args)
    }
}
