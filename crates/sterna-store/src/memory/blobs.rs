//! Blobs of the store in memory.

use std::time::Duration;

use bytes::Bytes;

use super::state::State;
use super::usage::OVERHEAD;
use crate::{BlobId, Error, ErrorKind, UnixMillis};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blob {
    value: Bytes,
    expires_at: UnixMillis,
}

impl State {
    pub(super) fn put_blob(
        &mut self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
        now: UnixMillis,
    ) -> Result<(), Error> {
        let expires_at = now + ttl;
        if let Some(blob) = self.blobs.get_mut(&id)
            && now < blob.expires_at
        {
            if blob.value != value {
                return Err(Error::new(ErrorKind::Conflict, "the blob id is taken"));
            }
            blob.expires_at = expires_at;
            return Ok(());
        }
        self.make_room(OVERHEAD + value.len(), now)?;
        let blob = Blob { value, expires_at };
        if let Some(expired) = self.blobs.insert(id, blob) {
            self.room.give_back(OVERHEAD + expired.value.len());
        }
        Ok(())
    }

    pub(super) fn blob(&self, id: BlobId, now: UnixMillis) -> Option<Bytes> {
        let blob = self.blobs.get(&id).filter(|blob| now < blob.expires_at)?;
        Some(blob.value.clone())
    }

    pub(super) fn sweep_blobs(&mut self, limit: u32, now: UnixMillis) -> u32 {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let Self { blobs, room, .. } = self;
        let swept = blobs
            .extract_if(.., |_, blob| blob.expires_at <= now)
            .take(limit)
            .map(|(_, blob)| room.give_back(OVERHEAD + blob.value.len()))
            .count();
        u32::try_from(swept).unwrap_or(u32::MAX)
    }
}
