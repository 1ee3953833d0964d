//! A store in front of another store.

use std::time::Duration;

use bytes::Bytes;

use crate::{
    Answer, Answered, BlobId, Blobs, BoxFuture, Claim, Claimant, Claimed, Commit, Effect,
    EffectClaim, Error, FlowId, Lease, Ledger, Listing, NewTask, OnceClaim, Outcome, Owner, Page,
    Passivated, Passivation, Round, RoundClaim, RoundEntry, Status, Store, Summary, Sweep, Swept,
    Task, TaskId, TaskUpdate, Tasks, Wakeups,
};

/// Declares [`Intercept`] and implements the traits of a store for it, from one
/// list of methods.
macro_rules! intercept {
    ($(#[$doc:meta])* { $($item:item)+ } $($store:ident { $(
        $method:ident($($name:ident: $type:ty),*) -> $output:ty;
    )+ $([$($more:item)+])? })+) => {
        $(#[$doc])*
        pub trait Intercept: Send + Sync {
            $($item)+
            $($(
                #[doc = concat!("Call of [`", stringify!($store), "::", stringify!($method), "`].")]
                fn $method(&self, $($name: $type),*) -> BoxFuture<'_, Result<$output, Error>> {
                    self.inner().$method($($name),*)
                }
            )+)+
        }
        $(impl<I: Intercept> $store for I {
            $(fn $method(&self, $($name: $type),*) -> BoxFuture<'_, Result<$output, Error>> {
                self.around(stringify!($method), Intercept::$method(self, $($name),*))
            })+
            $($($more)+)?
        })+
    };
}

intercept! {
    /// A store that passes its calls on to another store and changes some of
    /// them, for tests that count calls, delay them or break them.
    ///
    /// Every method passes its call on; an implementation overrides those that
    /// it changes. A type with this trait is a [`Store`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use sterna_store::{BlobId, Blobs, BoxFuture, Intercept, MemoryStore, Store};
    ///
    /// /// Counts calls.
    /// struct Counted(MemoryStore, AtomicUsize);
    ///
    /// impl Intercept for Counted {
    ///     fn inner(&self) -> &dyn Store {
    ///         &self.0
    ///     }
    ///
    ///     fn around<'a, T: Send + 'a>(
    ///         &'a self,
    ///         _method: &'static str,
    ///         call: BoxFuture<'a, T>,
    ///     ) -> BoxFuture<'a, T> {
    ///         self.1.fetch_add(1, Ordering::Relaxed);
    ///         call
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), sterna_store::Error> {
    /// let store = Counted(MemoryStore::new(), AtomicUsize::new(0));
    /// assert_eq!(Blobs::blob(&store, BlobId::from_bytes([7; 16])).await?, None);
    /// assert_eq!(store.1.into_inner(), 1);
    /// # Ok(())
    /// # }
    /// ```
    {
        /// The store that calls are passed on to.
        fn inner(&self) -> &dyn Store;

        /// Wraps the future of every call; `method` is its name.
        fn around<'a, T: Send + 'a>(
            &'a self,
            method: &'static str,
            call: BoxFuture<'a, T>,
        ) -> BoxFuture<'a, T> {
            let _ = method;
            call
        }
    }
    Tasks {
        create(task: NewTask) -> Summary;
        read(caller: Owner, task: TaskId) -> Option<Task>;
        list(caller: Owner, page: Page) -> Listing;
        answer(caller: Owner, task: TaskId, answers: Vec<Answer>) -> Option<Answered>;
        cancel(caller: Owner, task: TaskId) -> Option<Status>;
        claim(claim: Claim) -> Vec<Claimed>;
        renew(lease: Lease, length: Duration) -> TaskUpdate;
        append(lease: Lease, commit: Commit) -> TaskUpdate;
        passivate(lease: Lease, commit: Commit, rest: Passivation) -> Passivated;
        finish(lease: Lease, outcome: Outcome) -> Status;
        sweep_tasks(sweep: Sweep) -> Swept;
        [fn wakeups(&self) -> Wakeups {
            self.inner().wakeups()
        }
        fn place_task(&self, id: TaskId) -> TaskId {
            self.inner().place_task(id)
        }]
    }
    Ledger {
        claim_once(effect: Effect, claim: EffectClaim) -> OnceClaim;
        settle_once(effect: Effect, claimant: Claimant, result: Bytes) -> ();
        enter_round(round: Round, entry: RoundEntry) -> RoundClaim;
        complete_round(round: Round, claimant: Claimant, response: Bytes) -> ();
        sweep_ledger(limit: u32) -> u32;
        [fn place_flow(&self, id: FlowId) -> FlowId {
            self.inner().place_flow(id)
        }]
    }
    Blobs {
        put_blob(id: BlobId, value: Bytes, ttl: Duration) -> ();
        post_blob(id: BlobId, value: Bytes, ttl: Duration) -> ();
        blob(id: BlobId) -> Option<Bytes>;
        sweep_blobs(limit: u32) -> u32;
        probe() -> Vec<String>;
    }
}
