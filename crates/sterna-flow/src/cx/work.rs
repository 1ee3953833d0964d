//! The body of a step while it runs: claim, try, pause, store, settle.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use sterna_types::UnixMillis;

use super::body::Body;
use super::retry::Retry;
use super::step_error::StepErrorKind;
use crate::answers::is_same_path;
use crate::backends::{BackendError, BoxFuture, Claim};
use crate::diagnostic::Diagnostic;
use crate::engine::StepEvent;
use crate::error::{BackendAction, Error};
use crate::fingerprint::Fingerprint;
use crate::journal::{Entry, Kind};
use crate::key::Key;
use crate::shared::{StepWaker, WaiterHandle};

/// Options of a step, as its author set them.
pub(super) struct Options<E> {
    pub(super) timeout: Option<Duration>,
    pub(super) retry: Retry,
    pub(super) retry_if: Option<Predicate<E>>,
    pub(super) transient: Option<Predicate<E>>,
    pub(super) input: Option<Fingerprint>,
    pub(super) by_ref: bool,
    pub(super) secret: bool,
    pub(super) rerun_if_unreadable: bool,
    pub(super) at_most_once: bool,
    pub(super) effect: Option<&'static Location<'static>>,
}

type Predicate<E> = Box<dyn Fn(&E) -> bool + Send>;

impl<E> Default for Options<E> {
    fn default() -> Self {
        Self {
            timeout: None,
            retry: Retry::times(1),
            retry_if: None,
            transient: None,
            input: None,
            by_ref: false,
            secret: false,
            rerun_if_unreadable: false,
            at_most_once: false,
            effect: None,
        }
    }
}

/// A step that was allowed to begin and has not ended.
pub(super) struct Work<A> {
    key: Key,
    phase: Phase<A>,
    tried: u32,
    relay: Arc<StepWaker>,
    waker: Waker,
}

enum Phase<A> {
    Claiming(BoxFuture<Result<Claim, BackendError>>, Bytes),
    Pausing(UnixMillis),
    Trying(Pin<Box<A>>, Option<UnixMillis>),
    Storing(BoxFuture<Result<Bytes, BackendError>>),
    Settling(BoxFuture<Result<(), BackendError>>, Entry),
    /// The run is being stopped.
    Stopped,
}

/// The end of a step: a result as JSON, or a failure.
type StepResult = Result<Bytes, (StepErrorKind, String)>;

impl<A> Work<A> {
    /// Checks that the step can run before anything of it runs.
    pub(super) fn begin<E>(
        handle: &WaiterHandle<'_>,
        options: &Options<E>,
        cx: &Context<'_>,
    ) -> Option<Self> {
        let key = handle.recording_key();
        let shared = handle.shared();
        if options.by_ref && shared.engine.blobs.is_none() {
            handle.fail(Error::NoBlobs { key });
            return None;
        }
        let mut phase = Phase::Pausing(UnixMillis::default());
        if options.at_most_once {
            let Some(ledger) = &shared.engine.ledger else {
                handle.fail(Error::NoLedger { key });
                return None;
            };
            let given = shared.lock().given.clone();
            let answers = given.write(&key, shared.engine.build, &*shared.engine.digest);
            let claim = ledger.claim(&shared.flow, &key, answers.clone());
            phase = Phase::Claiming(claim, answers);
        }
        if let Some(at) = options.effect {
            shared.lock().effects.push((key.clone(), at));
        }
        let relay = handle.relay(cx.waker());
        Some(Self {
            key,
            phase,
            tried: 0,
            waker: Waker::from(relay.clone()),
            relay,
        })
    }

    /// Goes on until there is an entry, which is recorded.
    pub(super) fn poll<B>(
        &mut self,
        handle: &WaiterHandle<'_>,
        body: &mut B,
        options: &Options<B::Error>,
        cx: &Context<'_>,
    ) -> Poll<()>
    where
        B: Body<Attempt = A>,
        A: Future,
    {
        self.relay.redirect(&handle.shared().root, cx.waker());
        handle.park(cx);
        let waker = self.waker.clone();
        let mut inner = Context::from_waker(&waker);
        loop {
            let end = match &mut self.phase {
                Phase::Stopped => return Poll::Pending,
                Phase::Claiming(claim, given) => match ready!(claim.as_mut().poll(&mut inner)) {
                    Ok(Claim::Fresh) => {
                        self.phase = Phase::Pausing(UnixMillis::default());
                        continue;
                    }
                    Ok(Claim::Done { answers, .. } | Claim::Taken { answers })
                        if !is_same_path(&answers, given) =>
                    {
                        let key = self.key.clone();
                        handle.fail(Error::OtherAnswers { key });
                        self.phase = Phase::Stopped;
                        continue;
                    }
                    Ok(Claim::Done { result, .. }) => {
                        let entry = self.entry(options, read_settled(&result));
                        handle.record(entry, cx);
                        return Poll::Ready(());
                    }
                    Ok(Claim::Taken { .. }) => {
                        let message = "it was claimed and its result is unknown".to_owned();
                        let end = Err((StepErrorKind::Ambiguous, message));
                        handle.record(self.entry(options, end), cx);
                        return Poll::Ready(());
                    }
                    Err(source) => {
                        self.stop(handle, BackendAction::Claim, source);
                        continue;
                    }
                },
                Phase::Pausing(until) => {
                    if handle.now() < *until {
                        return Poll::Pending;
                    }
                    self.try_once(handle, body, options);
                    continue;
                }
                Phase::Trying(attempt, ends) => {
                    let polled = handle.inside(&self.key, || attempt.as_mut().poll(&mut inner));
                    match polled.map(B::result) {
                        Poll::Ready(Ok(value)) => match serde_json::to_vec(&value) {
                            Ok(value) => Ok(Bytes::from(value)),
                            Err(error) => {
                                let message = error.to_string();
                                let key = self.key.clone();
                                handle.fail(Error::Unrecordable { key, message });
                                return Poll::Pending;
                            }
                        },
                        Poll::Ready(Err(error)) => {
                            if self.goes_on_after(handle, options, Some(&error)) {
                                continue;
                            }
                            Err((StepErrorKind::Failed, error.to_string()))
                        }
                        Poll::Pending if ends.is_some_and(|ends| ends <= handle.now()) => {
                            if self.goes_on_after::<B::Error>(handle, options, None) {
                                continue;
                            }
                            let timeout = options.timeout.unwrap_or_default();
                            let message = format!("no result after {timeout:?}");
                            Err((StepErrorKind::TimedOut, message))
                        }
                        Poll::Pending => return Poll::Pending,
                    }
                }
                Phase::Storing(put) => match ready!(put.as_mut().poll(&mut inner)) {
                    Ok(reference) => {
                        let mut entry = self.entry(options, Ok(reference));
                        entry.by_ref = true;
                        handle.record(entry, cx);
                        return Poll::Ready(());
                    }
                    Err(source) => {
                        self.stop(handle, BackendAction::Store, source);
                        continue;
                    }
                },
                Phase::Settling(settle, entry) => {
                    let settled = ready!(settle.as_mut().poll(&mut inner));
                    let entry = entry.clone();
                    if let Err(error) = settled {
                        let key = entry.key.clone();
                        let message = error.to_string();
                        let lost = Diagnostic::ResultNotSettled { key, message };
                        handle.shared().lock().diagnostics.push(lost);
                    }
                    handle.record(entry, cx);
                    return Poll::Ready(());
                }
            };
            if self.end(handle, options, end, cx) {
                return Poll::Ready(());
            }
        }
    }

    /// Begins the next try.
    fn try_once<B>(&mut self, handle: &WaiterHandle<'_>, body: &mut B, options: &Options<B::Error>)
    where
        B: Body<Attempt = A>,
    {
        self.tried += 1;
        let settings = &handle.shared().engine.settings;
        settings.observe(&self.key, StepEvent::Began);
        let key = handle.shared().idempotency_key(&self.key);
        let Some(attempt) = handle.inside(&self.key, || body.attempt(key)) else {
            self.phase = Phase::Stopped;
            return;
        };
        let ends = options.timeout.map(|timeout| handle.now() + timeout);
        if let Some(ends) = ends {
            handle.wake_at(ends);
        }
        self.phase = Phase::Trying(Box::pin(attempt), ends);
    }

    /// Returns whether an error is not the step's result, because there is another
    /// try or the run stops. `None` means that the time ran out.
    fn goes_on_after<E: std::fmt::Display>(
        &mut self,
        handle: &WaiterHandle<'_>,
        options: &Options<E>,
        error: Option<&E>,
    ) -> bool {
        let says = |predicate: &Option<Predicate<E>>, without| match (predicate, error) {
            (Some(predicate), Some(error)) => predicate(error),
            _ => without,
        };
        if says(&options.retry_if, true)
            && let Some(wait) = options.retry.wait_after(self.tried)
        {
            let until = handle.now() + wait;
            handle.wake_at(until);
            self.phase = Phase::Pausing(until);
            return true;
        }
        if says(&options.transient, false) {
            let message = error.map_or_else(String::new, ToString::to_string);
            let key = self.key.clone();
            handle.fail(Error::Transient { key, message });
            self.phase = Phase::Stopped;
            return true;
        }
        false
    }

    /// The body has ended. Says whether its entry is recorded.
    fn end<E>(
        &mut self,
        handle: &WaiterHandle<'_>,
        options: &Options<E>,
        end: StepResult,
        cx: &Context<'_>,
    ) -> bool {
        let shared = handle.shared();
        shared.engine.settings.observe(&self.key, StepEvent::Ended);
        let size = end.as_ref().map_or(0, Bytes::len);
        let limit = shared.engine.settings.limits.value_bytes;
        if size > limit && !options.by_ref {
            let key = self.key.clone();
            handle.fail(Error::ValueTooLarge { key, size, limit });
            self.phase = Phase::Stopped;
            return false;
        }
        if let (true, Ok(value), Some(blobs)) = (options.by_ref, &end, &shared.engine.blobs) {
            self.phase = Phase::Storing(blobs.put(&shared.flow, &self.key, value.clone()));
            return false;
        }
        if let (true, Some(ledger)) = (options.at_most_once, &shared.engine.ledger) {
            let settle = ledger.settle(&shared.flow, &self.key, write_settled(&end));
            self.phase = Phase::Settling(settle, self.entry(options, end));
            return false;
        }
        handle.record(self.entry(options, end), cx);
        true
    }

    fn stop(&mut self, handle: &WaiterHandle<'_>, action: BackendAction, source: BackendError) {
        let key = self.key.clone();
        handle.fail(Error::Plug {
            key,
            action,
            source,
        });
        self.phase = Phase::Stopped;
    }

    fn entry<E>(&self, options: &Options<E>, end: StepResult) -> Entry {
        let failed = end.is_err();
        let value = end.unwrap_or_else(|(kind, message)| kind.encode(&message));
        let kind = if options.at_most_once {
            Kind::Once
        } else {
            Kind::Step
        };
        let mut entry = Entry::new(self.key.clone(), kind, value);
        entry.failed = failed;
        entry.fingerprint = options.input;
        entry.secret = options.secret;
        entry
    }
}

/// Encodes the end of an effect for the ledger.
fn write_settled(end: &StepResult) -> Bytes {
    let (sign, value) = match end {
        Ok(value) => (b'+', value.clone()),
        Err((kind, message)) => (b'-', kind.encode(message)),
    };
    let mut settled = Vec::with_capacity(1 + value.len());
    settled.push(sign);
    settled.extend_from_slice(&value);
    settled.into()
}

fn read_settled(settled: &Bytes) -> StepResult {
    match settled.split_first() {
        Some((b'+', _)) => Ok(settled.slice(1..)),
        _ => Err((
            StepErrorKind::Failed,
            String::from_utf8_lossy(settled.get(2..).unwrap_or_default()).into_owned(),
        )),
    }
}
