//! Payloads too large for a token, encrypted and put elsewhere.

use std::fmt;

use ring::digest::{SHA256, digest};
use zeroize::Zeroizing;

use crate::binding::Binding;
use crate::blob::{BlobError, BlobId, Spill};
use crate::cipher::{self, KEY_LEN, ONLY_IV, Once, TAG_LEN};
use crate::claims::Payload;
use crate::digest::DIGEST_LEN;
use crate::entropy::{Entropy, EntropyError};
use crate::flow::FlowId;
use crate::keyring::Keyring;
use crate::open::OpenError;
use crate::padding::padded_len;
use crate::seal::{Carried, Draft, SealError, Sealed};
use crate::subkeys::{Subkeys, prf};
use crate::time::UnixMillis;

/// Why a payload could not be had although its token is authentic.
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

impl Keyring {
    /// Seals `draft`, putting a payload over [`Budget::refuse`] into `spill`
    /// and only its name and key into the token.
    ///
    /// Everything but the store's part is done before this returns.
    ///
    /// [`Budget::refuse`]: crate::Budget::refuse
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal), and if the store does not take the payload.
    ///
    /// # Cancel safety
    ///
    /// A future dropped early may leave a blob that no token names; it expires.
    pub fn seal_or_spill<'s>(
        &self,
        draft: &Draft<'_>,
        binding: &Binding,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
        spill: &'s dyn Spill,
    ) -> impl Future<Output = Result<Sealed, SealError>> + Send + use<'s> {
        let prepared = self.prepare(draft, binding, now, entropy);
        async move {
            let (sealed, blob) = prepared?;
            if let Some(Blob { id, bytes }) = blob {
                let put = spill.put(id, bytes, sealed.expires_at);
                put.await.map_err(SealError::Spill)?;
            }
            Ok(sealed)
        }
    }

    fn prepare(
        &self,
        draft: &Draft<'_>,
        binding: &Binding,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<(Sealed, Option<Blob>), SealError> {
        if draft.fits_a_token() {
            let sealed = self.seal(draft, binding, now, entropy)?;
            return Ok((sealed, None));
        }
        let limit = draft.budget.spill.min(MAX_SPILL);
        if draft.payload.len() > limit {
            return Err(draft.over_budget(limit).into());
        }
        let (_, keys) = self.minting(now).ok_or(SealError::NoActiveKey(now))?;
        let (spilled, blob) = Spilled::encrypt(keys, draft.flow.id, draft.payload, entropy)?;
        let ticket = spilled.to_bytes();
        let sealed = self.issue(draft, Carried::Spilled(&*ticket), binding, now, entropy)?;
        Ok((sealed, Some(blob)))
    }
}

/// What the blob store gets.
struct Blob {
    id: BlobId,
    bytes: Vec<u8>,
}

/// A payload that is in a blob store: its name, its key and its length.
pub struct Spilled {
    flow: FlowId,
    blob: BlobId,
    key: Zeroizing<[u8; KEY_LEN]>,
    len: u32,
}

impl Spilled {
    /// The name of the blob.
    pub fn blob_id(&self) -> BlobId {
        self.blob
    }

    /// The length of the payload, not of the blob.
    pub fn payload_len(&self) -> usize {
        self.len as usize
    }

    /// Encrypts `payload` under a new key.
    ///
    /// Like a nonce, the key depends on what it encrypts, so a generator that
    /// repeats itself does not make it encrypt two things.
    fn encrypt(
        keys: &Subkeys,
        flow: FlowId,
        payload: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(Self, Blob), EntropyError> {
        let mut input = Zeroizing::new([0; KEY_LEN + 16 + DIGEST_LEN]);
        let (random, rest) = input.split_at_mut(KEY_LEN);
        entropy.fill(random)?;
        rest[..16].copy_from_slice(&flow.to_bytes());
        rest[16..].copy_from_slice(digest(&SHA256, payload).as_ref());
        let key = Zeroizing::new(prf(keys.blob(), &*input));

        let size = blob_size(payload.len());
        let mut bytes = Vec::with_capacity(size);
        bytes.push(VERSION);
        bytes.extend_from_slice(payload);
        bytes.resize(size - TAG_LEN, 0);
        let tag = cipher::encrypt(once(&key), &associated_data(flow), &mut bytes[1..]);
        bytes.extend_from_slice(&tag);
        let id = BlobId::of(&bytes);

        let len = u32::try_from(payload.len()).expect("at most MAX_SPILL");
        let spilled = Self {
            flow,
            blob: id,
            key,
            len,
        };
        Ok((spilled, Blob { id, bytes }))
    }

    pub(crate) async fn fetch(self, spill: &dyn Spill) -> Result<Payload, LoadError> {
        let size = blob_size(self.payload_len());
        let blob = spill.get(self.blob, size).await?;
        let mut blob = blob.ok_or(OpenError::BlobGone)?;
        if blob.len() != size || BlobId::of(&blob) != self.blob {
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

    /// What the token carries: the blob's name, its key, the payload's length.
    fn to_bytes(&self) -> Zeroizing<[u8; SPILLED_LEN]> {
        let mut bytes = Zeroizing::new([0; SPILLED_LEN]);
        bytes[..DIGEST_LEN].copy_from_slice(&self.blob.to_bytes());
        bytes[DIGEST_LEN..SPILLED_LEN - 4].copy_from_slice(&*self.key);
        bytes[SPILLED_LEN - 4..].copy_from_slice(&self.len.to_be_bytes());
        bytes
    }

    pub(crate) fn read(bytes: &[u8], flow: FlowId) -> Option<Self> {
        let (blob, rest) = bytes.split_first_chunk()?;
        let (key, rest) = rest.split_first_chunk()?;
        let len = u32::from_be_bytes(*rest.as_array()?);
        Some(Self {
            flow,
            blob: BlobId::from_bytes(*blob),
            key: Zeroizing::new(*key),
            len,
        })
    }
}

impl fmt::Debug for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spilled")
            .field("blob", &self.blob)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// A key for this blob alone.
fn once(key: &[u8; KEY_LEN]) -> Once<'_> {
    Once { key, iv: ONLY_IV }
}

fn associated_data(flow: FlowId) -> [u8; 30] {
    let mut data = *b"sterna blob v1................";
    data[14..].copy_from_slice(&flow.to_bytes());
    data
}

/// Bytes of a blob: its version and the padded ciphertext with its tag.
fn blob_size(payload_len: usize) -> usize {
    1 + padded_len(payload_len + TAG_LEN)
}

const VERSION: u8 = 1;

const SPILLED_LEN: usize = DIGEST_LEN + KEY_LEN + 4;

/// Keeps every length in 32 bits, whatever the budget says.
const MAX_SPILL: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::executor::block_on;

    use super::*;
    use crate::blob::BlobFuture;
    use crate::entropy::ThreadEntropy;
    use crate::secret::SecretKey;

    /// Holds one blob, whatever it is asked for.
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
        ticket.blob = BlobId::of(&blob);
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
