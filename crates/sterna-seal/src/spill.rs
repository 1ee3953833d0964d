//! Payloads too large for a token, encrypted and put elsewhere.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;

use ring::digest::{SHA256, digest};
use sterna_types::{BlobId, FlowId, UnixMillis};
use zeroize::Zeroizing;

use crate::binding::DIGEST_LEN;
use crate::cipher::{self, KEY_LEN, ONLY_IV, SingleUseKey, TAG_LEN};
use crate::entropy::{Entropy, EntropyError};
use crate::open_error::OpenError;
use crate::subkeys::{Subkeys, prf};
use crate::v1::padded_len;

/// Reason why the payload of an authentic token could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The payload was spilled, and this server has no store: a replica is
    /// configured differently.
    #[error("the state was spilled, and no store is configured")]
    NoStore,
    /// The client must start over, as with any token that does not open.
    #[error(transparent)]
    Refused(#[from] OpenError),
    /// The store is not working; the same token may open later.
    #[error(transparent)]
    Store(#[from] BlobError),
}

/// Encrypted payload, for the blob store.
pub(crate) struct Blob {
    pub(crate) id: BlobId,
    pub(crate) bytes: Vec<u8>,
}

/// SHA-256 of a blob, which the token carries.
#[derive(Clone, Copy, PartialEq)]
struct BlobDigest([u8; DIGEST_LEN]);

impl BlobDigest {
    fn of(blob: &[u8]) -> Self {
        let mut bytes = [0; DIGEST_LEN];
        bytes.copy_from_slice(digest(&SHA256, blob).as_ref());
        Self(bytes)
    }

    /// The first half: enough for two blobs not to meet by chance. A blob that
    /// was put under the id by another writer does not have the digest.
    fn id(self) -> BlobId {
        let (halves, _) = self.0.as_chunks();
        BlobId::from_bytes(halves[0])
    }
}

/// A payload that is in a blob store: its digest, its key and its length.
pub struct Spilled {
    flow: FlowId,
    digest: BlobDigest,
    key: Zeroizing<[u8; KEY_LEN]>,
    len: u32,
}

impl Spilled {
    /// Id of the blob in the store.
    pub fn blob_id(&self) -> BlobId {
        self.digest.id()
    }

    /// The length of the payload, not of the blob.
    pub fn payload_len(&self) -> usize {
        self.len as usize
    }

    /// Encrypts `payload` under a new key.
    ///
    /// Like a nonce, the key depends on the payload, so that a random generator
    /// that repeats itself does not make one key encrypt two payloads.
    pub(crate) fn encrypt(
        keys: &Subkeys,
        flow: FlowId,
        payload: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(Self, Blob), EntropyError> {
        let mut input = Zeroizing::new([0; KEY_LEN + 16 + DIGEST_LEN]);
        let (random, rest) = input.split_at_mut(KEY_LEN);
        entropy.fill(random)?;
        rest[..16].copy_from_slice(flow.as_bytes());
        rest[16..].copy_from_slice(digest(&SHA256, payload).as_ref());
        let key = Zeroizing::new(prf(keys.blob(), &*input));

        let size = blob_size(payload.len());
        let mut bytes = Vec::with_capacity(size);
        bytes.push(VERSION);
        bytes.extend_from_slice(payload);
        bytes.resize(size - TAG_LEN, 0);
        let tag = cipher::encrypt(once(&key), &associated_data(flow), &mut bytes[1..]);
        bytes.extend_from_slice(&tag);
        let digest = BlobDigest::of(&bytes);
        let id = digest.id();

        let len = u32::try_from(payload.len()).expect("at most MAX_SPILL");
        let spilled = Self {
            flow,
            digest,
            key,
            len,
        };
        Ok((spilled, Blob { id, bytes }))
    }

    pub(crate) async fn fetch(self, spill: &dyn Spill) -> Result<Payload, LoadError> {
        let size = blob_size(self.payload_len());
        let blob = spill.get(self.blob_id(), size).await?;
        let mut blob = blob.ok_or(OpenError::BlobGone)?;
        if blob.len() != size || BlobDigest::of(&blob) != self.digest {
            return Err(OpenError::BlobAltered.into());
        }
        if blob.first() != Some(&VERSION) {
            return Err(OpenError::Unreadable.into());
        }
        cipher::decrypt(once(&self.key), &associated_data(self.flow), &mut blob[1..])
            .ok_or(OpenError::BlobAltered)?;
        blob.truncate(1 + self.payload_len());
        Ok(Payload::new(blob, 1))
    }

    /// The part in the token: the blob's name, its key, the payload's length.
    pub(crate) fn to_bytes(&self) -> Zeroizing<[u8; SPILLED_LEN]> {
        let mut bytes = Zeroizing::new([0; SPILLED_LEN]);
        bytes[..DIGEST_LEN].copy_from_slice(&self.digest.0);
        bytes[DIGEST_LEN..SPILLED_LEN - 4].copy_from_slice(&*self.key);
        bytes[SPILLED_LEN - 4..].copy_from_slice(&self.len.to_be_bytes());
        bytes
    }

    pub(crate) fn read(bytes: &[u8], flow: FlowId) -> Option<Self> {
        let (digest, rest) = bytes.split_first_chunk()?;
        let (key, rest) = rest.split_first_chunk()?;
        let len = u32::from_be_bytes(*rest.as_array()?);
        Some(Self {
            flow,
            digest: BlobDigest(*digest),
            key: Zeroizing::new(*key),
            len,
        })
    }
}

impl fmt::Debug for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spilled")
            .field("blob", &self.blob_id())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// The bytes that were sealed, still in the buffer they were decrypted in.
#[derive(Clone, Eq, PartialEq)]
pub struct Payload {
    buffer: Vec<u8>,
    start: usize,
}

impl Payload {
    /// The bytes of `buffer` from `start` on.
    pub(crate) fn new(buffer: Vec<u8>, start: usize) -> Self {
        debug_assert!(
            start <= buffer.len(),
            "a payload begins plaintext its buffer"
        );
        Self { buffer, start }
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.len())
    }
}

/// A key for this blob alone.
fn once(key: &[u8; KEY_LEN]) -> SingleUseKey<'_> {
    SingleUseKey { key, iv: ONLY_IV }
}

fn associated_data(flow: FlowId) -> [u8; 30] {
    let mut data = *b"sterna blob v1................";
    data[14..].copy_from_slice(flow.as_bytes());
    data
}

/// Bytes of a blob: its version and the padded ciphertext with its tag.
fn blob_size(payload_len: usize) -> usize {
    1 + padded_len(payload_len + TAG_LEN)
}

const VERSION: u8 = 1;

const SPILLED_LEN: usize = DIGEST_LEN + KEY_LEN + 4;

/// Keeps every length in 32 bits, for every budget.
pub(crate) const MAX_SPILL: usize = 1 << 30;

/// A store for payloads that do not fit a token.
///
/// It is not trusted: a blob is encrypted under a key that only the token holds,
/// and is checked against the token when it comes back.
pub trait Spill: Send + Sync {
    /// Keeps `blob` under `id` at least until `expires_at`. Putting the same
    /// blob twice is no error.
    fn put(&self, id: BlobId, blob: Vec<u8>, expires_at: UnixMillis) -> BlobFuture<'_, ()>;

    /// Returns the blob that was put under `id`, or `None` if it is gone. A
    /// blob of any other length than `len` may be treated as gone.
    fn get(&self, id: BlobId, len: usize) -> BlobFuture<'_, Option<Vec<u8>>>;
}

/// Future of a call of a blob store.
pub type BlobFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BlobError>> + Send + 'a>>;

/// A call of a blob store failed.
#[derive(Debug, thiserror::Error)]
#[error("the blob store failed")]
pub struct BlobError {
    source: Box<dyn Error + Send + Sync>,
}

impl BlobError {
    /// Wraps the store's own error.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::executor::block_on;
    use sterna_types::UnixMillis;

    use super::*;
    use crate::entropy::ThreadEntropy;
    use crate::secret::SecretKey;

    /// Holds one blob and returns it for every name.
    struct Shelf(Vec<u8>);

    impl Spill for Shelf {
        fn put(&self, _: BlobId, _: Vec<u8>, _: UnixMillis) -> BlobFuture<'_, ()> {
            Box::pin(ready(Ok(())))
        }

        fn get(&self, _: BlobId, _: usize) -> BlobFuture<'_, Option<Vec<u8>>> {
            Box::pin(ready(Ok(Some(self.0.clone()))))
        }
    }

    const FLOW: FlowId = FlowId::from_bytes([1; 16]);

    fn spilled() -> (Spilled, Vec<u8>) {
        let secret = SecretKey::generate(&mut ThreadEntropy).unwrap();
        let keys = Subkeys::derive(&secret);
        let (spilled, blob) = Spilled::encrypt(&keys, FLOW, b"state", &mut ThreadEntropy).unwrap();
        (spilled, blob.bytes)
    }

    #[track_caller]
    fn refused(spilled: Spilled, blob: Vec<u8>) -> OpenError {
        match block_on(spilled.fetch(&Shelf(blob))) {
            Err(LoadError::Refused(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_blob_of_another_flow_is_not_opened() {
        let (mut ticket, blob) = spilled();
        ticket.flow = FlowId::from_bytes([2; 16]);
        assert_eq!(refused(ticket, blob), OpenError::BlobAltered);
    }

    #[test]
    fn a_blob_of_a_later_version_is_not_guessed_at() {
        let (mut ticket, mut blob) = spilled();
        blob[0] = VERSION + 1;
        ticket.digest = BlobDigest::of(&blob);
        assert_eq!(refused(ticket, blob), OpenError::Unreadable);
    }

    #[test]
    fn a_ticket_has_one_length() {
        let (ticket, blob) = spilled();
        let bytes = ticket.to_bytes();
        let read = Spilled::read(&*bytes, FLOW).unwrap();
        let payload = block_on(read.fetch(&Shelf(blob))).unwrap();
        assert_eq!(&*payload, b"state");
        assert!(Spilled::read(&bytes[1..], FLOW).is_none());
        assert!(Spilled::read(&[&bytes[..], &[0]].concat(), FLOW).is_none());
    }
}
