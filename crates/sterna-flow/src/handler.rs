//! Plain async functions as handlers.

use std::future::Future;

/// An async function of a context and its arguments.
///
/// Implemented for every `async fn(C, A) -> R` whose future is `Send`, and for
/// every async closure of that kind whose captures are `Clone`: a call works on
/// a copy of them. Require it for all lifetimes of the context to take either
/// without a macro:
///
/// ```
/// use sterna_flow::{FlowCx, Handler};
///
/// fn register<H, A, R>(_name: &str, _handler: H)
/// where
///     H: for<'a> Handler<'a, FlowCx<'a>, A, Output = R>,
/// {
/// }
///
/// async fn greet(_cx: FlowCx<'_>, name: String) -> Result<String, String> {
///     Ok(format!("Hello, {name}!"))
/// }
///
/// register("greet", greet);
///
/// let greeting = std::sync::Arc::new("Good morning".to_owned());
/// register("greet", async move |_cx: FlowCx<'_>, name: String| format!("{greeting}, {name}!"));
/// ```
///
/// A closure is written `async move |cx: FlowCx<'_>, args: A| { … }`. With
/// `move |cx, args| async move { … }` the compiler cannot see that the future
/// lives as long as its context, and says that `FnOnce` is not general enough.
///
/// `C` is a parameter so that a crate with a context of its own, wrapped around
/// [`FlowCx`](crate::FlowCx), can use the same trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no handler",
    label = "neither an async function nor an async closure of the context and the arguments",
    note = "a handler is an `async fn(FlowCx<'_>, A) -> R` or `async move |cx: FlowCx<'_>, args: A| {{ … }}`",
    note = "what a closure captures must be `Clone`: wrap it in an `Arc`"
)]
pub trait Handler<'a, C, A> {
    /// Its result.
    type Output;
    /// A call in progress.
    type Future: Future<Output = Self::Output> + Send + 'a;

    /// Begins a call.
    fn call(&self, cx: C, args: A) -> Self::Future;
}

impl<'a, C, A, F, Fut> Handler<'a, C, A> for F
where
    // Not `Fn`: an async closure that uses its captures does not implement `Fn`,
    // because its future borrows from the closure. Called by value it owns the copy
    // it works on.
    F: FnOnce(C, A) -> Fut + Clone,
    Fut: Future + Send + 'a,
{
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, cx: C, args: A) -> Fut {
        self.clone()(cx, args)
    }
}
