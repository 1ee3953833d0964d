//! Entries on their way to a store, blobs on their way back.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::Driver;
use crate::backends::{BackendError, BoxFuture};
use crate::error::{BackendAction, Error};
use crate::journal::Entry;
use crate::key::Key;
use crate::shared::{StepWaker, WaiterId};

/// Pending calls of the driver to its backends.
#[derive(Default)]
pub(super) struct Writing {
    append: Option<(BoxFuture<Result<(), BackendError>>, Batch)>,
    fetch: Option<(BoxFuture<Result<Bytes, BackendError>>, WaiterId)>,
    waker: Option<Waker>,
}

type Batch = Vec<(Entry, Option<WaiterId>)>;

impl Writing {
    pub(super) const fn is_busy(&self) -> bool {
        self.append.is_some() || self.fetch.is_some()
    }

    pub(super) const fn is_fetching(&self) -> bool {
        self.fetch.is_some()
    }
}

impl<F, T, E> Driver<'_, F>
where
    F: Future<Output = Result<T, E>> + ?Sized,
{
    /// Goes on writing and fetching as far as possible.
    pub(super) fn write(&mut self) {
        if self.shared.journaling.is_none() && self.writing.fetch.is_none() {
            return;
        }
        let waker = self.writing.waker.get_or_insert_with(|| {
            let relay = StepWaker::new(&self.shared.root, &self.waker);
            Waker::from(relay)
        });
        let waker = waker.clone();
        let mut cx = Context::from_waker(&waker);
        loop {
            // A timer may be due by the time it is written.
            let mut state = self.shared.lock();
            let now = state.now;
            state.fire(now);
            drop(state);
            if !self.begin_append() {
                break;
            }
            let Some((append, batch)) = &mut self.writing.append else {
                break;
            };
            let Poll::Ready(appended) = append.as_mut().poll(&mut cx) else {
                break;
            };
            let batch = std::mem::take(batch);
            self.writing.append = None;
            self.appended(appended, batch);
        }
        if let Some((fetch, id)) = &mut self.writing.fetch
            && let Poll::Ready(fetched) = fetch.as_mut().poll(&mut cx)
        {
            let id = *id;
            self.writing.fetch = None;
            self.fetched(fetched, id);
        }
    }

    /// Begins to write the entries that wait. Returns whether a write is under way.
    fn begin_append(&mut self) -> bool {
        if self.writing.append.is_some() {
            return true;
        }
        let Some(journaling) = &self.shared.journaling else {
            return false;
        };
        let batch: Batch = self.shared.lock().unwritten.iter().cloned().collect();
        if batch.is_empty() {
            return false;
        }
        let entries = batch.iter().map(|(entry, _)| entry.clone()).collect();
        self.writing.append = Some((journaling.append(entries), batch));
        true
    }

    fn appended(&self, appended: Result<(), BackendError>, batch: Batch) {
        let mut state = self.shared.lock();
        match appended {
            Ok(()) => {
                for (entry, id) in batch {
                    state.unwritten.pop_front();
                    state.append(id, entry);
                }
            }
            Err(source) => {
                // Nothing that could not be written may be tried again here.
                state.unwritten.clear();
                let key = batch
                    .first()
                    .map_or_else(|| Key::new(""), |(entry, _)| entry.key.clone());
                state.fail(Error::Plug {
                    key,
                    action: BackendAction::Record,
                    source,
                });
            }
        }
    }

    pub(super) fn fetch(&mut self, id: WaiterId, reference: Bytes) {
        let mut state = self.shared.lock();
        let Some(waiter) = state.waiters.get(id) else {
            return;
        };
        let key = waiter.key.clone();
        match &self.shared.engine.blobs {
            Some(blobs) => self.writing.fetch = Some((blobs.get(reference), id)),
            None => state.fail(Error::NoBlobs { key }),
        }
    }

    fn fetched(&self, fetched: Result<Bytes, BackendError>, id: WaiterId) {
        let mut state = self.shared.lock();
        let Some(waiter) = state.waiters.get_mut(id) else {
            return;
        };
        match fetched {
            Ok(blob) => waiter.fetched = Some(blob),
            Err(source) => {
                let key = waiter.key.clone();
                state.fail(Error::Plug {
                    key,
                    action: BackendAction::Fetch,
                    source,
                });
            }
        }
    }
}
