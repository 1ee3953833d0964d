//! The contract that every store keeps, as cases to run on any store.
//!
//! Give [`store`] a way to make an empty store and a way to move its time. A
//! case never waits for time to pass: a store in memory moves its clock, a
//! database moves the times in its rows back.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicI64, Ordering};
//! use sterna_store::contract::{self, Subject};
//! use sterna_store::{MemoryLimits, MemoryStore, Store, UnixMillis};
//!
//! let report = contract::store(|| {
//!     Box::pin(async {
//!         let time = Arc::new(AtomicI64::new(0));
//!         let clock = Arc::clone(&time);
//!         let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
//!         let store: Arc<dyn Store> = Arc::new(MemoryStore::with_clock(MemoryLimits::default(), now));
//!         Ok(Subject::new(store, move |by| {
//!             time.fetch_add(UnixMillis::span(by), Ordering::Relaxed);
//!             Box::pin(async { Ok(()) })
//!         }))
//!     })
//! })
//! .await;
//! assert!(report.is_kept(), "{report}");
//! # }
//! ```
//!
//! A ledger or a blob store alone is checked with [`ledger`] or [`blobs`], and
//! the operator's view of a store with [`survey`].
//! [`Faulty`] is a store with a known fault, for tests that must notice it.

mod access;
mod blob_cases;
mod case;
mod claims;
mod creation;
mod effects;
mod ends;
mod expiry;
mod faulty;
mod fencing;
mod fixture;
mod history;
mod inbox;
mod journal;
mod operator;
mod passivation;
mod questions;
mod rng;
mod rounds;
mod sharing;
mod values;

use std::sync::Arc;

use crate::{Blobs, BoxFuture, Error, Ledger, Store, Tasks};
pub use case::{Broken, Report, Subject};
use case::{Case, check};
pub use faulty::{Fault, Faulty};
pub use operator::SurveyedStore;

/// Checks everything about a store. `fresh` makes an empty one for each case.
pub async fn store(
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<dyn Store>, Error>>,
) -> Report {
    everything_but(&[], fresh).await
}

/// Checks everything about [`Shards`](crate::Shards), except the order and the
/// quotas over all shards, about which they promise less.
pub async fn shards(
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<dyn Store>, Error>>,
) -> Report {
    everything_but(&OVER_ALL_SHARDS, fresh).await
}

/// Cases that hold on each shard, and not over all of them.
const OVER_ALL_SHARDS: [&str; 4] = [
    "an_owner_has_no_more_unfinished_tasks_than_its_quota",
    "creations_at_once_keep_to_the_quota",
    "owners_are_given_workers_in_turn",
    "the_longest_waiting_task_goes_first",
];

async fn everything_but(
    left_out: &[&str],
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<dyn Store>, Error>>,
) -> Report {
    let mut cases = task_cases();
    cases.retain(|case| !left_out.contains(&case.name()));
    let mut report = check(&cases, || narrow(fresh(), |store| store)).await;
    report.merge(ledger(|| narrow(fresh(), |store| store)).await);
    report.merge(blobs(|| narrow(fresh(), |store| store)).await);
    report.merge(check(&history::cases(), fresh).await);
    report
}

/// Checks what a store promises about tasks.
pub async fn tasks(
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<dyn Tasks>, Error>>,
) -> Report {
    check(&task_cases(), fresh).await
}

fn task_cases() -> Vec<Case<dyn Tasks>> {
    [
        creation::cases(),
        access::cases(),
        claims::cases(),
        fencing::cases(),
        journal::cases(),
        questions::cases(),
        inbox::cases(),
        passivation::cases(),
        ends::cases(),
        expiry::cases(),
        sharing::cases(),
        values::cases(),
    ]
    .concat()
}

/// Checks what a store promises about effects and rounds.
pub async fn ledger(
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<dyn Ledger>, Error>>,
) -> Report {
    let cases: Vec<Case<dyn Ledger>> = [effects::cases(), rounds::cases()].concat();
    check(&cases, fresh).await
}

/// Checks what a store promises about blobs.
pub async fn blobs(
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<dyn Blobs>, Error>>,
) -> Report {
    check(&blob_cases::cases(), fresh).await
}

/// Checks what the operator's view of a store promises.
pub async fn survey(
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<SurveyedStore>, Error>>,
) -> Report {
    check(&operator::cases(), fresh).await
}

/// A subject that is looked at as less than it is.
fn narrow<T: ?Sized + 'static>(
    subject: BoxFuture<'static, Result<Subject<dyn Store>, Error>>,
    view: fn(Arc<dyn Store>) -> Arc<T>,
) -> BoxFuture<'static, Result<Subject<T>, Error>> {
    Box::pin(async move { Ok(subject.await?.narrow(view)) })
}
