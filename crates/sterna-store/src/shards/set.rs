//! The set of shards.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use super::ring::Rings;
use super::shard::{Shard, WatchedShard};
use crate::{BlobId, BoxFuture, Error, ErrorKind, Store};

/// Several stores that behave as one.
///
/// A task, a flow and a blob live on one shard, which their id says. No call
/// changes two shards, so a shard is as durable and as strict alone as it is
/// among others. If one does not answer, its tasks wait and those of the others
/// go on.
///
/// Four promises of a store are weaker:
///
/// - A claim takes tasks of all shards. The task that waits longest goes first on
///   each shard, and owners have their turns on each: an owner with any number of
///   tasks delays the task of another by one turn on each shard.
/// - A quota is shared out: each of `n` shards allows an owner its `n`th part,
///   rounded up. An owner has at most `n - 1` more unfinished tasks than
///   [`NewTask::quota`](crate::NewTask::quota), and may be refused some tasks
///   before that number, because ids do not fall evenly.
/// - A list is in the order of the clocks of the databases. A task of a shard
///   whose clock is behind may be missing from a page that was read before.
/// - A list fails while a shard does not answer. Claims and sweeps go on.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), sterna_store::Error> {
/// use std::sync::Arc;
/// use sterna_store::{BlobId, Blobs, MemoryStore, Rings, Shard, Shards};
///
/// let shard = |name| Shard::new(name, Arc::new(MemoryStore::new()));
/// let store = Shards::open(vec![shard("a"), shard("b")], Rings::new(&[2])?).await?;
/// assert_eq!(store.blob(BlobId::from_bytes([7; 16])).await?, None);
/// # Ok(())
/// # }
/// ```
pub struct Shards {
    pub(super) shards: Vec<WatchedShard>,
    pub(super) rings: Rings,
    /// The shard with which the next claim begins.
    next: AtomicUsize,
}

impl Shards {
    /// Puts `shards` together, in this order, which must never change: new shards
    /// are added at the end, as a new ring.
    ///
    /// Each shard remembers its place, and a shard at another place is refused. A
    /// shard that does not answer is taken as it is.
    ///
    /// # Errors
    ///
    /// `Misuse` if there are more or fewer shards than `rings` say, `Incompatible`
    /// if a shard has another place (`MR0709`).
    pub async fn open(shards: Vec<Shard>, rings: Rings) -> Result<Self, Error> {
        if shards.len() != rings.shards() {
            return Err(Error::new(
                ErrorKind::Misuse,
                format!(
                    "there are {} shards, and the last ring has {}",
                    shards.len(),
                    rings.shards()
                ),
            ));
        }
        let set = Self {
            shards: shards.into_iter().map(WatchedShard::new).collect(),
            rings,
            next: AtomicUsize::new(0),
        };
        // All are looked at before one is written to: a mistake leaves no trace.
        answered(set.all(|index, shard| set.check_place(index, shard)).await)?;
        answered(set.all(|index, shard| set.keep_place(index, shard)).await)?;
        Ok(set)
    }

    /// Makes sure that a shard has no other place than the one it has here.
    async fn check_place(&self, index: usize, shard: &WatchedShard) -> Result<(), Error> {
        let found = shard.call(|store| store.blob(BlobId::from_bytes(PLACE)));
        let place = self.place(index);
        match found.await? {
            Some(found) if found != place => Err(misplaced(shard, &found, &place)),
            _ => Ok(()),
        }
    }

    /// Writes the place of a shard into it.
    async fn keep_place(&self, index: usize, shard: &WatchedShard) -> Result<(), Error> {
        let (id, place) = (BlobId::from_bytes(PLACE), self.place(index));
        let kept = shard.call(|store| store.put_blob(id, place.clone().into(), KEPT));
        match kept.await {
            // Another instance, with another configuration, was faster.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                let found = shard.call(|store| store.blob(id)).await?;
                Err(misplaced(shard, &found.unwrap_or_default(), &place))
            }
            kept => kept,
        }
    }

    fn place(&self, index: usize) -> String {
        let ring = self.rings.joined(index);
        format!("v1 shard {index} of rings {:?}", self.rings.up_to(ring))
    }

    /// The names of the shards that did not answer their last call.
    pub fn silent(&self) -> Vec<String> {
        let silent = self.shards.iter().filter(|shard| !shard.answers());
        silent.map(|shard| shard.name().to_owned()).collect()
    }

    /// Makes a call on the shard number `index`.
    pub(super) fn on<'a, T: Send + 'a>(
        &'a self,
        index: Result<usize, Error>,
        call: impl FnOnce(&'a dyn Store) -> BoxFuture<'a, Result<T, Error>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Error>> {
        Box::pin(async move { self.shards[index?].call(call).await })
    }

    /// Makes a call on all shards at once.
    pub(super) async fn all<'a, T, F: Future<Output = T> + Send>(
        &'a self,
        call: impl Fn(usize, &'a WatchedShard) -> F,
    ) -> Vec<T> {
        let shards = self.shards.iter().enumerate();
        together(shards.map(|(index, shard)| call(index, shard))).await
    }

    /// The sum of what the shards have swept: `limit` in all, of shards that answer.
    /// It fails if none does. One that does not answer is swept when it does.
    pub(super) async fn sweep<'a, T: Send + 'a>(
        &'a self,
        limit: u32,
        call: impl Fn(&'a dyn Store, u32) -> BoxFuture<'a, Result<T, Error>> + Send + Sync + 'a,
        count: fn(&T) -> u32,
        add: fn(T, T) -> T,
    ) -> Result<T, Error> {
        let mut sum: Option<Result<T, Error>> = None;
        let mut left = limit;
        for shard in self.around() {
            if !shard.answers() && !shard.is_due() {
                continue;
            }
            let swept = shard.call_for(SWEEP, |store| call(store, left)).await;
            if let Ok(swept) = &swept {
                left = left.saturating_sub(count(swept));
            }
            sum = Some(match (sum, swept) {
                (Some(Ok(sum)), Ok(swept)) => Ok(add(sum, swept)),
                (Some(Ok(sum)), Err(_)) => Ok(sum),
                (_, swept) => swept,
            });
        }
        sum.unwrap_or_else(|| Err(self.all_silent()))
    }

    /// All shards, beginning with another one each time.
    pub(super) fn around(&self) -> impl Iterator<Item = &WatchedShard> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.shards.len();
        let (behind, ahead) = self.shards.split_at(first);
        ahead.iter().chain(behind)
    }

    pub(super) fn all_silent(&self) -> Error {
        let names = self.silent().join(", ");
        Error::new(ErrorKind::Unavailable, format!("no shard answers: {names}"))
    }
}

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.shards.iter().map(WatchedShard::name).collect();
        f.debug_struct("Shards")
            .field("shards", &names)
            .field("rings", &self.rings)
            .finish_non_exhaustive()
    }
}

/// The first error of a shard that answered.
fn answered(results: Vec<Result<(), Error>>) -> Result<(), Error> {
    let failed = results.into_iter().filter_map(Result::err);
    let mut failed = failed.filter(|error| error.kind() != ErrorKind::Unavailable);
    failed.next().map_or(Ok(()), Err)
}

fn misplaced(shard: &WatchedShard, found: &[u8], place: &str) -> Error {
    let found = String::from_utf8_lossy(found);
    let name = shard.name();
    let text = format!("shard {name} was written as \"{found}\" and is named as \"{place}\"");
    Error::new(ErrorKind::Incompatible, text).with_code("MR0709")
}

/// Polls all futures until each is done.
pub(super) async fn together<T, F: Future<Output = T> + Send>(
    futures: impl IntoIterator<Item = F>,
) -> Vec<T> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    let mut poll = pin!(poll_fn(|cx| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *done = Some(value);
            }
        }
        match done.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }));
    poll.as_mut().await;
    done.into_iter().flatten().collect()
}

/// Id of the blob in which a shard keeps its place.
const PLACE: [u8; 16] = *b"sterna shard no.";

/// Longer than any task lives; begun anew whenever the set is opened.
const KEPT: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Longest wait for a shard that is swept.
const SWEEP: Duration = Duration::from_secs(15);
