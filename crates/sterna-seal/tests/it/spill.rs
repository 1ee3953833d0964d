//! Payloads that do not fit a token.

use std::collections::BTreeMap;
use std::sync::Mutex;

use expect_test::expect;
use futures::executor::block_on;
use sterna_seal::{
    BlobError, BlobFuture, BlobId, Budget, Claims, Content, LoadError, OpenError, SealError,
    SealRequest, Sealed, Spill, UnixMillis,
};

use crate::stage::{Counting, HOUR, NOW, Request, flow, later, ring};

/// A store in memory that a test can tamper with.
#[derive(Default)]
struct Shelf {
    blobs: Mutex<BTreeMap<BlobId, (Vec<u8>, UnixMillis)>>,
    is_broken: bool,
}

impl Shelf {
    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut blobs = self.blobs.lock().unwrap();
        change(&mut blobs.first_entry().unwrap().into_mut().0);
    }

    fn only(&self) -> (Vec<u8>, UnixMillis) {
        let blobs = self.blobs.lock().unwrap();
        assert_eq!(blobs.len(), 1);
        blobs.values().next().unwrap().clone()
    }
}

impl Spill for Shelf {
    fn put(&self, id: BlobId, blob: Vec<u8>, expires_at: UnixMillis) -> BlobFuture<'_, ()> {
        Box::pin(async move {
            if self.is_broken {
                return Err(BlobError::new("the shelf is broken"));
            }
            self.blobs.lock().unwrap().insert(id, (blob, expires_at));
            Ok(())
        })
    }

    fn get(&self, id: BlobId, _len: usize) -> BlobFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            if self.is_broken {
                return Err(BlobError::new("the shelf is broken"));
            }
            Ok(self
                .blobs
                .lock()
                .unwrap()
                .get(&id)
                .map(|(blob, _)| blob.clone()))
        })
    }
}

fn seal(shelf: &Shelf, payload: &[u8]) -> Result<Sealed, SealError> {
    let binding = Request::by_alice().binding();
    let draft = SealRequest::new(flow(), payload);
    let mut entropy = Counting::default();
    block_on(ring("a").seal_or_spill(&draft, &binding, NOW, &mut entropy, shelf))
}

fn open(sealed: &Sealed) -> Claims {
    let binding = Request::by_alice().binding();
    ring("a").open(&sealed.token, &binding, NOW).unwrap()
}

fn load(shelf: &Shelf, sealed: &Sealed) -> Result<Vec<u8>, LoadError> {
    let payload = block_on(open(sealed).content.load(Some(shelf)))?;
    Ok(payload.to_vec())
}

#[test]
fn a_payload_that_fits_stays_in_the_token() {
    let shelf = Shelf::default();
    let sealed = seal(&shelf, b"state").unwrap();
    assert!(shelf.blobs.lock().unwrap().is_empty());
    assert_eq!(open(&sealed).content.inline(), Some(&b"state"[..]));
    assert_eq!(load(&shelf, &sealed).unwrap(), b"state");
    let without_store = block_on(open(&sealed).content.load(None)).unwrap();
    assert_eq!(&*without_store, b"state");
}

#[test]
fn a_payload_that_does_not_fit_is_carried_by_name_and_key() {
    let shelf = Shelf::default();
    let payload = vec![b'p'; 100_000];
    let sealed = seal(&shelf, &payload).unwrap();
    assert_eq!(sealed.token.len(), 299);
    assert!(sealed.over_warn_budget);
    let (blob, expires_at) = shelf.only();
    assert_eq!(expires_at, later(HOUR), "kept as long as the token");
    assert_eq!(blob.len(), 1 + 100_352, "padded");
    assert!(
        !blob.windows(8).any(|window| window == b"pppppppp"),
        "encrypted"
    );
    let Content::Spilled(spilled) = open(&sealed).content else {
        panic!("the payload is in the token");
    };
    assert_eq!(spilled.payload_len(), payload.len());
    // A reader of the log must not see the key.
    let (name, len) = (spilled.blob_id(), payload.len());
    let shown = format!("Spilled {{ blob: {name:?}, len: {len}, .. }}");
    assert_eq!(format!("{spilled:?}"), shown);
    assert_eq!(load(&shelf, &sealed).unwrap(), payload);
}

#[test]
fn a_store_that_lies_is_found_out() {
    let payload = vec![b'p'; 100_000];
    let check = |change: fn(&mut Vec<u8>)| {
        let shelf = Shelf::default();
        let sealed = seal(&shelf, &payload).unwrap();
        shelf.change(change);
        match load(&shelf, &sealed) {
            Err(LoadError::Refused(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(check(|blob| blob[5] ^= 1), OpenError::BlobAltered);
    assert_eq!(check(|blob| blob[0] = 2), OpenError::BlobAltered);
    assert_eq!(check(|blob| blob.push(0)), OpenError::BlobAltered);
    assert_eq!(check(|blob| blob.truncate(9)), OpenError::BlobAltered);
    assert_eq!(check(Vec::clear), OpenError::BlobAltered);
}

#[test]
fn a_blob_that_is_gone_means_starting_over_and_a_broken_store_does_not() {
    let mut shelf = Shelf::default();
    let sealed = seal(&shelf, &vec![0; 100_000]).unwrap();
    shelf.is_broken = true;
    assert!(matches!(load(&shelf, &sealed), Err(LoadError::Store(_))));
    shelf.is_broken = false;
    shelf.blobs.lock().unwrap().clear();
    let gone = load(&shelf, &sealed).unwrap_err();
    assert!(matches!(gone, LoadError::Refused(OpenError::BlobGone)));
    let none = block_on(open(&sealed).content.load(None)).unwrap_err();
    assert!(matches!(none, LoadError::NoStore));
}

#[test]
fn sealing_and_loading_can_move_between_threads() {
    fn check(_: impl Send) {}
    let shelf = Shelf::default();
    let sealed = seal(&shelf, b"state").unwrap();
    check(open(&sealed).content.load(Some(&shelf)));
    let binding = Request::by_alice().binding();
    let draft = SealRequest::new(flow(), b"state");
    let mut entropy = Counting::default();
    check(ring("a").seal_or_spill(&draft, &binding, NOW, &mut entropy, &shelf));
}

#[test]
fn a_store_that_takes_nothing_fails_the_seal() {
    let shelf = Shelf {
        is_broken: true,
        ..Shelf::default()
    };
    let error = seal(&shelf, &vec![0; 100_000]).unwrap_err();
    expect!["the state could not be spilled"].assert_eq(&error.to_string());
}

#[test]
fn even_a_store_takes_only_so_much() {
    let shelf = Shelf::default();
    let error = seal(&shelf, &vec![0; 4 * 1024 * 1024 + 1]).unwrap_err();
    expect!["the state has 4194305 bytes, 4194304 are allowed"].assert_eq(&error.to_string());
    assert!(shelf.blobs.lock().unwrap().is_empty());
    seal(&shelf, &vec![0; 4 * 1024 * 1024]).unwrap();
}

#[test]
fn two_payloads_never_share_a_key_even_if_the_generator_repeats() {
    let shelf = Shelf::default();
    let mut budget = Budget::default();
    budget.refuse = 0;
    let spill = |payload: &[u8]| {
        let binding = Request::by_alice().binding();
        let draft = SealRequest::new(flow(), payload).with_budget(budget);
        let mut entropy = Counting::default();
        block_on(ring("a").seal_or_spill(&draft, &binding, NOW, &mut entropy, &shelf)).unwrap()
    };
    spill(&[0; 64]);
    spill(&[1; 64]);
    let blobs = shelf.blobs.lock().unwrap();
    let streams: Vec<_> = blobs.values().map(|(blob, _)| &blob[1..65]).collect();
    let difference: Vec<_> = streams[0]
        .iter()
        .zip(streams[1])
        .map(|(a, b)| a ^ b)
        .collect();
    assert_ne!(difference, [1; 64], "the same key stream under both");
}
