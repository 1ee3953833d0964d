//! The parameters of handlers, and the state that they share.

use std::any::{TypeId, type_name};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::call::Request;
use crate::cx::Cx;

/// An async function or async closure that serves a tool, a prompt or a
/// resource.
///
/// It takes a [`Cx`], then up to two values of the server's [`State`], then the
/// arguments. A handler without state may leave out the arguments.
///
/// ```
/// use sterna_server::{Cx, Server, State};
/// # #[derive(schemars::JsonSchema, serde::Deserialize)]
/// # struct Lookup { word: String }
/// # struct Dictionary;
/// # impl Dictionary { fn find(&self, word: &str) -> String { word.to_owned() } }
///
/// async fn ping(_cx: Cx<'_>) -> &'static str {
///     "pong"
/// }
///
/// async fn echo(_cx: Cx<'_>, args: Lookup) -> String {
///     args.word
/// }
///
/// async fn lookup(_cx: Cx<'_>, words: State<Dictionary>, args: Lookup) -> String {
///     words.find(&args.word)
/// }
///
/// let server = Server::new("words", "1.0.0")
///     .state(Dictionary)
///     .tool("ping", "Answers", ping)
///     .tool("echo", "Repeats a word", echo)
///     .tool("lookup", "Explains a word", lookup)
///     .tool("shout", "Repeats a word loudly", async |_cx: Cx<'_>, args: Lookup| {
///         args.word.to_uppercase()
///     });
/// server.build()?;
/// # Ok::<(), sterna_server::BuildError>(())
/// ```
///
/// A closure is written `async move |cx: Cx<'_>, args: A| { … }`; each call works
/// on a clone of its captures. With `move |cx, args| async move { … }` the
/// compiler cannot see that the future lives as long as its context.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not an async function or async closure of `Cx<'_>`, any `State<T>`, and the arguments",
    note = "a handler is an `async fn(Cx<'_>, A) -> R`, an `async fn(Cx<'_>, State<T>, A) -> R` or `async move |cx: Cx<'_>, args: A| {{ … }}`",
    note = "the captures of a closure must be `Clone`: wrap them in an `Arc`"
)]
pub trait Handler<'a, P> {
    /// Type that the handler returns.
    type Output;
    /// Future of one call.
    type Future: Future<Output = Self::Output>;

    /// Begins a call.
    fn call(&self, cx: Cx<'a>, params: P) -> Self::Future;
}

/// Parameters of a [`Handler`] after its context. Implemented for those that a
/// handler may have.
pub trait Params: Send + Sized + 'static {
    /// Arguments of the call.
    type Args;

    /// The types of the state that the handler takes, with their names.
    #[doc(hidden)]
    fn states() -> Vec<(TypeId, &'static str)>;

    #[doc(hidden)]
    fn gather(args: Self::Args, request: &Request) -> Self;
}

/// A value of type `T` that was given to [`Server::state`](crate::Server::state),
/// as a parameter of a handler.
///
/// A server without a `T` is not built, and the error names the tool that takes
/// it (MR0211).
///
/// ```
/// use sterna_server::{Cx, Server, State};
///
/// struct Greeting(String);
///
/// async fn greet(_cx: Cx<'_>, greeting: State<Greeting>, (): ()) -> String {
///     greeting.0.clone()
/// }
///
/// let server = Server::new("greeter", "1.0.0").tool("greet", "Greets", greet);
/// let error = server.build().unwrap_err();
/// assert!(error.to_string().contains("Greeting"));
/// ```
pub struct State<T>(Arc<T>);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn state<T: Send + Sync + 'static>(request: &Request) -> State<T> {
    State(Arc::clone(request.shared_state()))
}

fn type_of<T: 'static>() -> (TypeId, &'static str) {
    (TypeId::of::<T>(), type_name::<T>())
}

// Not `Fn` in these: the future of an async closure borrows from the closure. Called by value
// it owns the clone that it works on. The future need not be `Send` here, but where a handler is
// registered: there the compiler names the value that is not.
impl<'a, F, Fut> Handler<'a, ()> for F
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

impl<'a, F, Fut, A> Handler<'a, (A,)> for F
where
    F: FnOnce(Cx<'a>, A) -> Fut + Clone,
    Fut: Future,
{
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, cx: Cx<'a>, (args,): (A,)) -> Fut {
        self.clone()(cx, args)
    }
}

impl<'a, F, Fut, S, A> Handler<'a, (State<S>, A)> for F
where
    F: FnOnce(Cx<'a>, State<S>, A) -> Fut + Clone,
    Fut: Future,
{
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, cx: Cx<'a>, (state, args): (State<S>, A)) -> Fut {
        self.clone()(cx, state, args)
    }
}

impl<'a, F, Fut, S, T, A> Handler<'a, (State<S>, State<T>, A)> for F
where
    F: FnOnce(Cx<'a>, State<S>, State<T>, A) -> Fut + Clone,
    Fut: Future,
{
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, cx: Cx<'a>, (first, second, args): (State<S>, State<T>, A)) -> Fut {
        self.clone()(cx, first, second, args)
    }
}

impl Params for () {
    type Args = ();

    fn states() -> Vec<(TypeId, &'static str)> {
        Vec::new()
    }

    fn gather((): (), _: &Request) -> Self {}
}

impl<A: Send + 'static> Params for (A,) {
    type Args = A;

    fn states() -> Vec<(TypeId, &'static str)> {
        Vec::new()
    }

    fn gather(args: A, _: &Request) -> Self {
        (args,)
    }
}

impl<S, A> Params for (State<S>, A)
where
    S: Send + Sync + 'static,
    A: Send + 'static,
{
    type Args = A;

    fn states() -> Vec<(TypeId, &'static str)> {
        vec![type_of::<S>()]
    }

    fn gather(args: A, request: &Request) -> Self {
        (state(request), args)
    }
}

impl<S, T, A> Params for (State<S>, State<T>, A)
where
    S: Send + Sync + 'static,
    T: Send + Sync + 'static,
    A: Send + 'static,
{
    type Args = A;

    fn states() -> Vec<(TypeId, &'static str)> {
        vec![type_of::<S>(), type_of::<T>()]
    }

    fn gather(args: A, request: &Request) -> Self {
        (state(request), state(request), args)
    }
}
