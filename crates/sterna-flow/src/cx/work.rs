//! The body of a step while it runs: claim, try, pause, store, settle.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;

use super::body::Body;
use super::retry::Retry;
use super::step_error::StepErrorKind;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, PlugAction};
use crate::fingerprint::Fingerprint;
use crate::journal::{Entry, Kind};
use crate::key::Key;
use crate::observer::Seen;
use crate::plugs::{BoxFuture, Claim, PlugError};
use crate::shared::{Relay, Ticket};
use crate::time::UnixMillis;

/// What an author said about a step.
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
    relay: Arc<Relay>,
    waker: Waker,
}

enum Phase<A> {
    Claiming(BoxFuture<Result<Claim, PlugError>>),
    Pausing(UnixMillis),
    Trying(Pin<Box<A>>, Option<UnixMillis>),
    Storing(BoxFuture<Result<Bytes, PlugError>>),
    Settling(BoxFuture<Result<(), PlugError>>, Entry),
    /// The run is being stopped.
    Stopped,
}

/// How a step ended: a result as JSON, or a failure.
type End = Result<Bytes, (StepErrorKind, String)>;

impl<A> Work<A> {
    /// Checks that the step can run before anything of it runs.
    pub(super) fn begin<E>(
        ticket: &Ticket<'_>,
        options: &Options<E>,
        cx: &Context<'_>,
    ) -> Option<Self> {
        let key = ticket.recording_key();
        let shared = ticket.shared();
        if options.by_ref && shared.engine.blobs.is_none() {
            ticket.fail(Error::NoBlobs { key });
            return None;
        }
        let mut phase = Phase::Pausing(UnixMillis::default());
        if options.at_most_once {
            let Some(ledger) = &shared.engine.ledger else {
                ticket.fail(Error::NoLedger { key });
                return None;
            };
            phase = Phase::Claiming(ledger.claim(&shared.flow, &key));
        }
        if let Some(at) = options.effect {
            shared.lock().effects.push((key.clone(), at));
        }
        let relay = ticket.relay(cx.waker());
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
        ticket: &Ticket<'_>,
        body: &mut B,
        options: &Options<B::Error>,
        cx: &Context<'_>,
    ) -> Poll<()>
    where
        B: Body<Attempt = A>,
        A: Future<Output = Result<B::Value, B::Error>>,
    {
        self.relay.redirect(&ticket.shared().root, cx.waker());
        ticket.park(cx);
        let waker = self.waker.clone();
        let mut inner = Context::from_waker(&waker);
        loop {
            let end = match &mut self.phase {
                Phase::Stopped => return Poll::Pending,
                Phase::Claiming(claim) => match ready!(claim.as_mut().poll(&mut inner)) {
                    Ok(Claim::Fresh) => {
                        self.phase = Phase::Pausing(UnixMillis::default());
                        continue;
                    }
                    Ok(Claim::Done(result)) => {
                        let entry = self.entry(options, read_settled(&result));
                        ticket.record(entry, cx);
                        return Poll::Ready(());
                    }
                    Ok(Claim::Taken) => {
                        let message = "it was claimed and its result is unknown".to_owned();
                        let end = Err((StepErrorKind::Ambiguous, message));
                        ticket.record(self.entry(options, end), cx);
                        return Poll::Ready(());
                    }
                    Err(source) => {
                        self.stop(ticket, PlugAction::Claim, source);
                        continue;
                    }
                },
                Phase::Pausing(until) => {
                    if ticket.now() < *until {
                        return Poll::Pending;
                    }
                    self.try_once(ticket, body, options);
                    continue;
                }
                Phase::Trying(attempt, ends) => {
                    let polled = ticket.inside(&self.key, || attempt.as_mut().poll(&mut inner));
                    match polled {
                        Poll::Ready(Ok(value)) => match serde_json::to_vec(&value) {
                            Ok(value) => Ok(Bytes::from(value)),
                            Err(error) => {
                                let message = error.to_string();
                                let key = self.key.clone();
                                ticket.fail(Error::Unrecordable { key, message });
                                return Poll::Pending;
                            }
                        },
                        Poll::Ready(Err(error)) => {
                            if self.goes_on_after(ticket, options, Some(&error)) {
                                continue;
                            }
                            Err((StepErrorKind::Failed, error.to_string()))
                        }
                        Poll::Pending if ends.is_some_and(|ends| ends <= ticket.now()) => {
                            if self.goes_on_after::<B::Error>(ticket, options, None) {
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
                        ticket.record(entry, cx);
                        return Poll::Ready(());
                    }
                    Err(source) => {
                        self.stop(ticket, PlugAction::Store, source);
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
                        ticket.shared().lock().diagnostics.push(lost);
                    }
                    ticket.record(entry, cx);
                    return Poll::Ready(());
                }
            };
            if self.end(ticket, options, end, cx) {
                return Poll::Ready(());
            }
        }
    }

    /// Begins the next try.
    fn try_once<B>(&mut self, ticket: &Ticket<'_>, body: &mut B, options: &Options<B::Error>)
    where
        B: Body<Attempt = A>,
    {
        self.tried += 1;
        let settings = &ticket.shared().engine.settings;
        settings.observe(&self.key, Seen::Began);
        let key = ticket.shared().idempotency_key(&self.key);
        let Some(attempt) = ticket.inside(&self.key, || body.attempt(key)) else {
            self.phase = Phase::Stopped;
            return;
        };
        let ends = options.timeout.map(|timeout| ticket.now().after(timeout));
        if let Some(ends) = ends {
            ticket.wake_at(ends);
        }
        self.phase = Phase::Trying(Box::pin(attempt), ends);
    }

    /// Whether an error is not the step's result: there is another try, or the
    /// run stops. No error means that time ran out.
    fn goes_on_after<E: std::fmt::Display>(
        &mut self,
        ticket: &Ticket<'_>,
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
            let until = ticket.now().after(wait);
            ticket.wake_at(until);
            self.phase = Phase::Pausing(until);
            return true;
        }
        if says(&options.transient, false) {
            let message = error.map_or_else(String::new, ToString::to_string);
            let key = self.key.clone();
            ticket.fail(Error::Transient { key, message });
            self.phase = Phase::Stopped;
            return true;
        }
        false
    }

    /// The body has ended. Says whether its entry is recorded.
    fn end<E>(
        &mut self,
        ticket: &Ticket<'_>,
        options: &Options<E>,
        end: End,
        cx: &Context<'_>,
    ) -> bool {
        let shared = ticket.shared();
        shared.engine.settings.observe(&self.key, Seen::Ended);
        let size = end.as_ref().map_or(0, Bytes::len);
        let limit = shared.engine.settings.limits.value_bytes;
        if size > limit && !options.by_ref {
            let key = self.key.clone();
            ticket.fail(Error::ValueTooLarge { key, size, limit });
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
        ticket.record(self.entry(options, end), cx);
        true
    }

    fn stop(&mut self, ticket: &Ticket<'_>, action: PlugAction, source: PlugError) {
        let key = self.key.clone();
        ticket.fail(Error::Plug {
            key,
            action,
            source,
        });
        self.phase = Phase::Stopped;
    }

    fn entry<E>(&self, options: &Options<E>, end: End) -> Entry {
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

/// How the end of an effect is kept in the ledger.
fn write_settled(end: &End) -> Bytes {
    let (sign, value) = match end {
        Ok(value) => (b'+', value.clone()),
        Err((kind, message)) => (b'-', kind.encode(message)),
    };
    let mut settled = Vec::with_capacity(1 + value.len());
    settled.push(sign);
    settled.extend_from_slice(&value);
    settled.into()
}

fn read_settled(settled: &Bytes) -> End {
    match settled.split_first() {
        Some((b'+', _)) => Ok(settled.slice(1..)),
        _ => Err((
            StepErrorKind::Failed,
            String::from_utf8_lossy(settled.get(2..).unwrap_or_default()).into_owned(),
        )),
    }
}
