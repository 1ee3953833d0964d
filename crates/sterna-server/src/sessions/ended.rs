//! The end of a session, told to every instance that shares the store.
//!
//! A session id is good by itself, on any instance and until it expires. So the
//! end of a session is recorded in the store, under an id that follows from the
//! session's, for as long as the session id would be good.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use sterna_http::{clock, with_deadline};
use sterna_store::{BlobId, Error};

use super::session::Session;
use crate::core::Core;
use crate::session_table::Key;
use crate::tasks::{Tasks, store_failed};

/// Reason that the end of a session was not recorded.
pub(super) enum NotRecorded {
    Store(Error),
    TooMany,
}

/// Records that a session has ended. Without a store there is nothing to do.
pub(super) async fn record(core: &Core, session: &Session) -> Result<(), NotRecorded> {
    let Some(tasks) = &core.tasks else {
        return Ok(());
    };
    // A row for each is kept for a day: a client must not write them without limit.
    if !core.session_table.ends().may_record(clock::now()) {
        return Err(NotRecorded::TooMany);
    }
    let left = (session.expires_at - core.now()) + SKEW;
    let value = Bytes::from_static(ENDED);
    let posted = tasks
        .store
        .post_blob(blob_id(&session.key), value, left)
        .await;
    posted.map_err(NotRecorded::Store)
}

/// Returns `true` if a session was ended, here or at another instance.
///
/// The store is asked at most once in five seconds for each session. If it does
/// not say, the session goes on: a store that fails must not end all sessions.
pub(super) async fn has_ended(core: &Core, key: Key) -> bool {
    if core.session_table.has_ended(&key) {
        return true;
    }
    let Some(tasks) = &core.tasks else {
        return false;
    };
    if !core.session_table.ends().is_due(key, clock::now()) {
        return false;
    }
    let ended = is_recorded(tasks, key).await;
    if ended {
        // Stops what runs in it here, and the store need not be asked again.
        core.session_table.end(key);
    }
    ended
}

/// Ends when the store says that the session has.
pub(super) async fn until_recorded(core: Arc<Core>, key: Key) {
    let Some(tasks) = core.tasks.clone() else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        if is_recorded(&tasks, key).await {
            return core.session_table.end(key);
        }
    }
}

async fn is_recorded(tasks: &Tasks, key: Key) -> bool {
    let reading = tasks.store.blob(blob_id(&key));
    match with_deadline(clock::now() + PATIENCE, reading).await {
        Ok(Ok(found)) => found.is_some_and(|value| value == ENDED),
        Ok(Err(error)) => {
            store_failed(&error);
            false
        }
        Err(_) => {
            tracing::warn!(target: "sterna::sessions", "MR0153: the store does not say whether a session has ended");
            false
        }
    }
}

/// Id of the blob that records the end of a session.
fn blob_id(key: &Key) -> BlobId {
    let mut context = Context::new(&SHA256);
    context.update(b"the end of a session\n");
    context.update(key);
    let mut id = [0; 16];
    id.copy_from_slice(&context.finish().as_ref()[..16]);
    BlobId::from_bytes(id)
}

/// Other builds read it.
const ENDED: &[u8] = b"1";

/// Time between two looks of an open stream: an end is noticed within it.
const BETWEEN_LOOKS: Duration = Duration::from_secs(60);

/// Time that a request waits for the store.
const PATIENCE: Duration = Duration::from_secs(1);

/// By how much the clocks of two instances may differ.
const SKEW: Duration = Duration::from_secs(60);
