//! Handlers that return their questions.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use super::deliver;
use crate::delivery::{Gate, HandlerErrors};

/// Runs one turn of a handler that returns its questions instead of awaiting
/// their answers, and so is no flow.
///
/// The questions that it returns are sent with [`ask_all`].
///
/// # Errors
///
/// The handler failed, was misused, or panicked.
///
/// # Cancel safety
///
/// Dropping the future drops the handler.
pub async fn run_low_level<R, H: HandlerErrors>(
    errors: &H,
    start: impl FnOnce() -> Pin<Box<dyn Future<Output = Result<R, H::Error>> + Send>>,
) -> Result<R, H::Error> {
    let panicked = |panic: &(dyn Any + Send)| errors.panicked(message(panic));
    let started = catch_unwind(AssertUnwindSafe(start));
    let mut handler = started.map_err(|panic| panicked(&*panic))?;
    let returned =
        poll_fn(
            |cx| match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(cx))) {
                Ok(polled) => polled,
                Err(panic) => Poll::Ready(Err(panicked(&*panic))),
            },
        );
    let returned = returned.await;
    errors.misuse().map_or(returned, Err)
}

/// Checks all questions that a low-level handler has returned, and sends them:
/// all or none.
///
/// # Errors
///
/// They may not be sent, or the caller may not be asked so many.
pub fn ask_all<A, G: Gate<A>>(
    gate: &mut G,
    questions: impl IntoIterator<Item = A>,
) -> Result<(), G::Error> {
    // A low-level handler has no fallbacks: a client that cannot be asked is told so.
    deliver(gate, questions, true).map(drop)
}

/// Returns what a panic said.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a text")
}
