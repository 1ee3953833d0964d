//! Every store behaves as the one in memory does.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::Subject;
use super::case::{Broken, cases};
use super::history::Operation;
use super::rng::Rng;
use crate::{MemoryLimits, MemoryStore, Store, UnixMillis};

cases! { dyn Store:
    random_histories_go_as_they_go_in_memory,
}

/// Number of operations in a history, and number of histories.
const LENGTH: usize = 250;
const HISTORIES: u64 = 8;

async fn random_histories_go_as_they_go_in_memory(
    subject: Subject<dyn Store>,
) -> Result<(), Broken> {
    let time = Arc::new(AtomicI64::new(0));
    let clock = Arc::clone(&time);
    let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
    let memory = MemoryStore::with_clock(MemoryLimits::default(), now);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // One history goes on where the other stopped: what is old and strange is
    // then part of the test.
    for seed in 0..HISTORIES {
        let mut rng = Rng::new(seed);
        for step in 0..LENGTH {
            let operation = rng.operation(&ours);
            if let Operation::Advance(by) = operation {
                time.fetch_add(UnixMillis::span(by), Ordering::Relaxed);
                subject.advance(by).await?;
            }
            let wanted = operation.apply(&memory, &mut ours).await;
            let got = operation.apply(subject.store(), &mut theirs).await;
            if got != wanted {
                return Err(Broken::new(format!(
                    "history {seed}, step {step}: {operation:?}\n  gave {got:?}\n  wanted {wanted:?}"
                )));
            }
        }
    }
    Ok(())
}
