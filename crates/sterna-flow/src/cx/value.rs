//! Results of memos and races, to the journal and back.

use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::journal::{Entry, Kind};
use crate::shared::Ticket;

/// Records `value` as the end of `ticket`'s future.
pub(super) fn write(ticket: &Ticket<'_>, kind: Kind, value: &impl Serialize, cx: &Context<'_>) {
    let key = ticket.recording_key();
    let limit = ticket.shared().engine.settings.limits.value_bytes;
    match serde_json::to_vec(value) {
        Ok(value) if value.len() > limit => ticket.fail(Error::ValueTooLarge {
            key,
            size: value.len(),
            limit,
        }),
        Ok(value) => ticket.record(Entry::new(key, kind, value.into()), cx),
        Err(error) => ticket.fail(Error::Unrecordable {
            key,
            message: error.to_string(),
        }),
    }
}

/// Reads what was recorded; pending for good if it is of another type.
pub(super) fn read<T: DeserializeOwned>(ticket: &mut Ticket<'_>, entry: Entry) -> Poll<T> {
    match serde_json::from_slice(&entry.value) {
        Ok(value) => {
            ticket.finish();
            Poll::Ready(value)
        }
        Err(error) => {
            ticket.fail(Error::Unreadable {
                key: entry.key,
                message: error.to_string(),
            });
            Poll::Pending
        }
    }
}
