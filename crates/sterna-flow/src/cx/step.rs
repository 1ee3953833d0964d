//! A step that is in progress.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde::Serialize;

use super::body::{Body, FallibleBody};
use super::retry::Retry;
use super::step_error::StepError;
use super::work::{Options, Work};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::journal::Entry;
use crate::shared::{Changed, Permission, WaiterHandle};

/// A step that is in progress. Made by [`FlowCx::step`](crate::FlowCx::step),
/// [`FlowCx::effect`](crate::FlowCx::effect) and their fallible and retrying
/// variants.
///
/// The result is recorded as JSON: a type that gains an optional field can still
/// be read by the next build.
///
/// # Cancel safety
///
/// Dropping it stops its body; nothing is remembered, and if the handler gets
/// there again, the body runs from its beginning.
#[must_use = "a step runs when it is awaited"]
pub struct Step<'a, B: Body> {
    handle: WaiterHandle<'a>,
    body: B,
    options: Options<B::Error>,
    work: Option<Work<B::Attempt>>,
}

impl<'a, B: Body> Step<'a, B> {
    pub(super) fn new(handle: WaiterHandle<'a>, body: B) -> Self {
        Self {
            handle,
            body,
            options: Options::default(),
            work: None,
        }
    }

    pub(super) const fn effect(mut self, at: &'static Location<'static>) -> Self {
        self.options.effect = Some(at);
        self
    }

    pub(super) const fn tried(mut self, retry: Retry) -> Self {
        self.options.retry = retry;
        self
    }

    pub(super) const fn stop_after(mut self, duration: Duration) -> Self {
        self.options.timeout = Some(duration);
        self
    }

    pub(super) const fn at_most_once(mut self) -> Self {
        self.options.at_most_once = true;
        self
    }

    /// Records the input of the step; `changed` is the treatment of a finished
    /// step whose input is another one in a replay.
    pub fn input(mut self, input: &(impl Serialize + ?Sized), changed: Changed) -> Self {
        match serde_json::to_vec(input) {
            Ok(bytes) => {
                let digest = &*self.handle.shared().engine.digest;
                let fingerprint = Fingerprint::of(digest, &[&bytes]);
                self.handle.pin(fingerprint, changed);
                self.options.input = Some(fingerprint);
            }
            Err(error) => self.handle.fail(Error::Unrecordable {
                key: self.handle.key(),
                message: error.to_string(),
            }),
        }
        self
    }

    /// Keeps the result in the blob store, and only a reference in the journal.
    pub const fn by_ref(mut self) -> Self {
        self.options.by_ref = true;
        self
    }

    /// Marks the result as secret in the stored journal.
    pub const fn secret(mut self) -> Self {
        self.options.secret = true;
        self
    }

    /// Accepts a result that an older build recorded under the name `old`.
    pub fn formerly(self, old: &str) -> Self {
        self.handle.alias(old);
        self
    }

    /// Runs again if the recorded result is of a type that cannot be read now.
    pub const fn rerun_if_unreadable(mut self) -> Self {
        self.options.rerun_if_unreadable = true;
        self
    }

    /// Waits for the recorded result, as `read` takes it.
    pub(super) fn poll_with<R>(
        &mut self,
        cx: &Context<'_>,
        read: impl Fn(Result<B::Value, StepError>) -> Result<R, StepError>,
    ) -> Poll<R> {
        loop {
            if let Some(work) = &mut self.work {
                ready!(work.poll(&self.handle, &mut self.body, &self.options, cx));
                self.work = None;
            }
            match self.handle.poll(cx) {
                Permission::Told(entry) => {
                    if let Some(result) = self.take(entry, &read) {
                        return Poll::Ready(result);
                    }
                }
                Permission::Start => self.work = Work::begin(&self.handle, &self.options, cx),
                Permission::Ask(_) | Permission::Wait => return Poll::Pending,
            }
        }
    }

    /// The result for the handler. `None` if the step must run again or the run
    /// must stop.
    fn take<R>(
        &mut self,
        entry: Entry,
        read: impl Fn(Result<B::Value, StepError>) -> Result<R, StepError>,
    ) -> Option<R> {
        let recorded = match entry.failed {
            true => Ok(Err(StepError::decode(entry.key.clone(), &entry.value))),
            false => serde_json::from_slice(&entry.value)
                .map(Ok)
                .map_err(|error| error.to_string()),
        };
        let result = recorded.and_then(|recorded| {
            // An older build recorded the failure; the body of this one cannot fail.
            read(recorded).map_err(|failure| failure.to_string())
        });
        match result {
            Ok(result) => {
                self.handle.finish();
                Some(result)
            }
            Err(_) if self.options.rerun_if_unreadable => {
                // What runs again was written by this build.
                self.options.rerun_if_unreadable = false;
                self.handle.run_again();
                None
            }
            Err(message) => {
                let key = entry.key;
                self.handle.fail(Error::Unreadable { key, message });
                None
            }
        }
    }
}

impl<B: FallibleBody> Step<'_, B> {
    /// Tries again only after errors for which `worth_it` returns `true`.
    pub fn retry_if(mut self, worth_it: impl Fn(&B::Error) -> bool + Send + 'static) -> Self {
        self.options.retry_if = Some(Box::new(worth_it));
        self
    }

    /// Names the errors that are not recorded as the result of the step.
    ///
    /// After the last attempt such an error is not recorded, and the handler
    /// does not see it: the run stops with [`Error::Transient`], and the step
    /// runs again when the request is repeated.
    pub fn transient(mut self, passes: impl Fn(&B::Error) -> bool + Send + 'static) -> Self {
        self.options.transient = Some(Box::new(passes));
        self
    }

    /// Stops each attempt after `duration`.
    pub fn timeout(self, duration: Duration) -> Self {
        self.stop_after(duration)
    }
}

impl<B: Body> Future for Step<'_, B> {
    type Output = B::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_with(cx, B::output)
    }
}

// The closure is only ever called, and a try in progress is in a box.
impl<B: Body> Unpin for Step<'_, B> {}

impl<B: Body> fmt::Debug for Step<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Step({})", self.handle.key())
    }
}
