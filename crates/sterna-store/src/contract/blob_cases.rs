//! Blobs stay as they are until they expire.

use bytes::Bytes;

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{HOUR, bytes, pattern, together};
use crate::{BlobId, Blobs, ErrorKind};

cases! { dyn Blobs:
    a_blob_comes_back_as_it_was,
    a_big_blob_comes_back_as_it_was,
    a_blob_is_gone_when_its_time_is_up,
    a_posted_blob_is_a_blob,
    putting_a_blob_again_starts_its_time_anew,
    a_blob_is_never_replaced,
    concurrent_blobs_under_one_id_have_one_winner,
    an_id_is_free_after_its_blob_expired,
    expired_blobs_are_swept,
}

fn id(number: u8) -> BlobId {
    BlobId::from_bytes([number; 16])
}

async fn a_blob_comes_back_as_it_was(subject: Subject<dyn Blobs>) -> Result<(), Broken> {
    let store = subject.store();
    same(store.blob(id(1)).await?, None)?;
    let every_byte: Bytes = (0..=255).collect();
    store.put_blob(id(1), every_byte.clone(), HOUR).await?;
    store.put_blob(id(2), Bytes::new(), HOUR).await?;
    same(store.blob(id(1)).await?, Some(every_byte))?;
    same(store.blob(id(2)).await?, Some(Bytes::new()))
}

async fn a_big_blob_comes_back_as_it_was(subject: Subject<dyn Blobs>) -> Result<(), Broken> {
    let big: Bytes = pattern(8 << 20);
    subject.store().put_blob(id(1), big.clone(), HOUR).await?;
    // Eight megabytes make a poor message.
    same(subject.store().blob(id(1)).await? == Some(big), true)
}

async fn a_blob_is_gone_when_its_time_is_up(subject: Subject<dyn Blobs>) -> Result<(), Broken> {
    subject.store().put_blob(id(1), bytes("a"), HOUR).await?;
    subject.advance(HOUR / 2).await?;
    same(subject.store().blob(id(1)).await?, Some(bytes("a")))?;
    subject.advance(HOUR).await?;
    same(subject.store().blob(id(1)).await?, None)
}

async fn putting_a_blob_again_starts_its_time_anew(
    subject: Subject<dyn Blobs>,
) -> Result<(), Broken> {
    for _ in 0..3 {
        subject.store().put_blob(id(1), bytes("a"), HOUR).await?;
        subject.advance(HOUR * 3 / 4).await?;
    }
    same(subject.store().blob(id(1)).await?, Some(bytes("a")))
}

async fn a_posted_blob_is_a_blob(subject: Subject<dyn Blobs>) -> Result<(), Broken> {
    let store = subject.store();
    for _ in 0..2 {
        store.post_blob(id(1), bytes("a"), HOUR).await?;
        same(store.blob(id(1)).await?, Some(bytes("a")))?;
    }
    let other = store.post_blob(id(1), bytes("b"), HOUR).await;
    refused(other, ErrorKind::Conflict)?;
    same(store.blob(id(1)).await?, Some(bytes("a")))
}

async fn a_blob_is_never_replaced(subject: Subject<dyn Blobs>) -> Result<(), Broken> {
    subject.store().put_blob(id(1), bytes("a"), HOUR).await?;
    let other = subject.store().put_blob(id(1), bytes("b"), HOUR).await;
    refused(other, ErrorKind::Conflict)?;
    same(subject.store().blob(id(1)).await?, Some(bytes("a")))
}

async fn concurrent_blobs_under_one_id_have_one_winner(
    subject: Subject<dyn Blobs>,
) -> Result<(), Broken> {
    let store = subject.store();
    let puts = (0..8).map(|n| store.put_blob(id(1), bytes(&format!("{n}")), HOUR));
    let results = together(puts.collect()).await;
    same(results.iter().filter(|result| result.is_ok()).count(), 1)?;
    for result in results.into_iter().filter(Result::is_err) {
        refused(result, ErrorKind::Conflict)?;
    }
    Ok(())
}

async fn an_id_is_free_after_its_blob_expired(subject: Subject<dyn Blobs>) -> Result<(), Broken> {
    subject.store().put_blob(id(1), bytes("a"), HOUR).await?;
    subject.advance(HOUR * 2).await?;
    subject.store().put_blob(id(1), bytes("b"), HOUR).await?;
    same(subject.store().blob(id(1)).await?, Some(bytes("b")))
}

async fn expired_blobs_are_swept(subject: Subject<dyn Blobs>) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..5 {
        store.put_blob(id(number), bytes("a"), HOUR).await?;
    }
    store.put_blob(id(9), bytes("a"), HOUR * 9).await?;
    same(store.sweep_blobs(10).await?, 0)?;
    subject.advance(HOUR * 2).await?;
    same(store.sweep_blobs(3).await?, 3)?;
    same(store.sweep_blobs(3).await?, 2)?;
    same(store.blob(id(9)).await?, Some(bytes("a")))
}
