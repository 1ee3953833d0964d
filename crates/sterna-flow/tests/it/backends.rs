//! Stores that live in memory, and fail when they are told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sterna_flow::{
    BackendError, Blobs, BoxFuture, Claim, Entry, FlowId, JournalSink, Key, Ledger, Level,
    Listener, Progress,
};

#[derive(Default)]
pub(crate) struct Stores {
    /// Effects that were claimed: under which answers, and their result.
    pub(crate) ledger: Mutex<HashMap<String, (Bytes, Option<Bytes>)>>,
    pub(crate) blobs: Mutex<Vec<Bytes>>,
    pub(crate) entries: Mutex<Vec<Entry>>,
    pub(crate) heard: Mutex<Vec<String>>,
    pub(crate) trouble: Mutex<Option<Trouble>>,
}

/// The next failure, which happens once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    ClaimFails,
    FenceLost,
    SettleFails,
}

impl Stores {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    fn check(&self, trouble: Trouble) -> Result<(), BackendError> {
        let mut next = self.trouble.lock().unwrap();
        if *next != Some(trouble) {
            return Ok(());
        }
        *next = None;
        Err(match trouble {
            Trouble::FenceLost => BackendError::FenceLost,
            _ => BackendError::Unavailable("the disk is full".into()),
        })
    }
}

/// Pending once, so that nothing depends on an answer at once.
fn later<T: Send + 'static>(result: Result<T, BackendError>) -> BoxFuture<Result<T, BackendError>> {
    Box::pin(async {
        tokio::task::yield_now().await;
        result
    })
}

impl Ledger for Stores {
    fn claim(
        &self,
        _: &FlowId,
        key: &Key,
        answers: Bytes,
    ) -> BoxFuture<Result<Claim, BackendError>> {
        let claim = self.check(Trouble::ClaimFails).map(|()| {
            let mut ledger = self.ledger.lock().unwrap();
            match ledger.get(key.as_str()) {
                Some((answers, Some(result))) => Claim::Done {
                    result: result.clone(),
                    answers: answers.clone(),
                },
                Some((answers, None)) => Claim::Taken {
                    answers: answers.clone(),
                },
                None => {
                    ledger.insert(key.to_string(), (answers, None));
                    Claim::Fresh
                }
            }
        });
        later(claim)
    }

    fn settle(&self, _: &FlowId, key: &Key, result: Bytes) -> BoxFuture<Result<(), BackendError>> {
        let settled = self.check(Trouble::SettleFails).map(|()| {
            let mut ledger = self.ledger.lock().unwrap();
            ledger.entry(key.to_string()).or_default().1 = Some(result);
        });
        later(settled)
    }
}

impl Blobs for Stores {
    fn put(&self, _: &FlowId, _: &Key, value: Bytes) -> BoxFuture<Result<Bytes, BackendError>> {
        let mut blobs = self.blobs.lock().unwrap();
        blobs.push(value);
        let reference = u8::try_from(blobs.len() - 1).unwrap();
        later(Ok(Bytes::from(vec![reference])))
    }

    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, BackendError>> {
        let blobs = self.blobs.lock().unwrap();
        let blob = blobs.get(usize::from(reference[0])).cloned();
        later(blob.ok_or(BackendError::Missing))
    }
}

impl JournalSink for Stores {
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), BackendError>> {
        let appended = self.check(Trouble::FenceLost).map(|()| {
            self.entries.lock().unwrap().extend(entries);
        });
        later(appended)
    }
}

impl Listener for Stores {
    fn progress(&self, progress: Progress) {
        let line = format!("progress {} of {:?}", progress.done, progress.total);
        self.heard.lock().unwrap().push(line);
    }

    fn log(&self, level: Level, message: &str) {
        let line = format!("{level:?} {message}");
        self.heard.lock().unwrap().push(line);
    }
}
