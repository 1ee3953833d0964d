//! Results of memos and races, to the journal and back.

use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::journal::{Entry, Kind};
use crate::shared::WaiterHandle;

/// Records `value` as the end of `handle`'s future.
pub(super) fn write(
    handle: &WaiterHandle<'_>,
    kind: Kind,
    fingerprint: Option<Fingerprint>,
    value: &impl Serialize,
    cx: &Context<'_>,
) {
    let key = handle.recording_key();
    let limit = handle.shared().engine.settings.limits.value_bytes;
    match serde_json::to_vec(value) {
        Ok(value) if value.len() > limit => handle.fail(Error::ValueTooLarge {
            key,
            size: value.len(),
            limit,
        }),
        Ok(value) => {
            let mut entry = Entry::new(key, kind, value.into());
            entry.fingerprint = fingerprint;
            handle.record(entry, cx);
        }
        Err(error) => handle.fail(Error::Unrecordable {
            key,
            message: error.to_string(),
        }),
    }
}

/// Reads a recorded value; pending for good if it is of another type.
pub(super) fn read<T: DeserializeOwned>(handle: &mut WaiterHandle<'_>, entry: Entry) -> Poll<T> {
    match serde_json::from_slice(&entry.value) {
        Ok(value) => {
            handle.finish();
            Poll::Ready(value)
        }
        Err(error) => {
            handle.fail(Error::Unreadable {
                key: entry.key,
                message: error.to_string(),
            });
            Poll::Pending
        }
    }
}
