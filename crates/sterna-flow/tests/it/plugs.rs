//! Stores that live in memory, and fail when they are told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sterna_flow::{
    Blobs, BoxFuture, Claim, Entry, FlowId, Journaling, Key, Ledger, Level, Listener, PlugError,
    Progress,
};

#[derive(Default)]
pub(crate) struct Stores {
    pub(crate) ledger: Mutex<HashMap<String, Option<Bytes>>>,
    pub(crate) blobs: Mutex<Vec<Bytes>>,
    pub(crate) entries: Mutex<Vec<Entry>>,
    pub(crate) heard: Mutex<Vec<String>>,
    pub(crate) trouble: Mutex<Option<Trouble>>,
}

/// What goes wrong next, once.
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

    fn check(&self, trouble: Trouble) -> Result<(), PlugError> {
        let mut next = self.trouble.lock().unwrap();
        if *next != Some(trouble) {
            return Ok(());
        }
        *next = None;
        Err(match trouble {
            Trouble::FenceLost => PlugError::FenceLost,
            _ => PlugError::Unavailable("the disk is full".into()),
        })
    }
}

/// Pending once, so that nothing depends on an answer at once.
fn later<T: Send + 'static>(result: Result<T, PlugError>) -> BoxFuture<Result<T, PlugError>> {
    Box::pin(async {
        tokio::task::yield_now().await;
        result
    })
}

impl Ledger for Stores {
    fn claim(&self, _: &FlowId, key: &Key) -> BoxFuture<Result<Claim, PlugError>> {
        let claim = self.check(Trouble::ClaimFails).map(|()| {
            let mut ledger = self.ledger.lock().unwrap();
            match ledger.get(key.as_str()) {
                Some(Some(result)) => Claim::Done(result.clone()),
                Some(None) => Claim::Taken,
                None => {
                    ledger.insert(key.to_string(), None);
                    Claim::Fresh
                }
            }
        });
        later(claim)
    }

    fn settle(&self, _: &FlowId, key: &Key, result: Bytes) -> BoxFuture<Result<(), PlugError>> {
        let settled = self.check(Trouble::SettleFails).map(|()| {
            let mut ledger = self.ledger.lock().unwrap();
            ledger.insert(key.to_string(), Some(result));
        });
        later(settled)
    }
}

impl Blobs for Stores {
    fn put(&self, _: &FlowId, _: &Key, value: Bytes) -> BoxFuture<Result<Bytes, PlugError>> {
        let mut blobs = self.blobs.lock().unwrap();
        blobs.push(value);
        let reference = u8::try_from(blobs.len() - 1).unwrap();
        later(Ok(Bytes::from(vec![reference])))
    }

    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, PlugError>> {
        let blobs = self.blobs.lock().unwrap();
        let blob = blobs.get(usize::from(reference[0])).cloned();
        later(blob.ok_or(PlugError::Missing))
    }
}

impl Journaling for Stores {
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), PlugError>> {
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
