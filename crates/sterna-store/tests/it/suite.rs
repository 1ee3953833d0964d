//! The contract suite finds what is wrong with a store.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sterna_store::contract::{self, Fault, Faulty, Subject, SurveyedStore};
use sterna_store::{Blobs, BoxFuture, Error, Ledger, MemoryLimits, MemoryStore, Store, UnixMillis};

#[tokio::test]
async fn a_store_without_a_fault_passes() {
    let report = contract::store(|| Box::pin(async { Ok(subject(None)) })).await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_found_and_named() {
    for (fault, sentences) in [
        (
            Fault::BelievesZombies,
            &[
                "a_zombie_can_not_append",
                "a_zombie_can_not_finish",
                "a_zombie_can_not_passivate",
                "a_zombie_can_not_renew",
            ][..],
        ),
        (Fault::ClaimsForever, &["an_expired_lease_is_taken_over"]),
        (Fault::DropsAnswers, AGREEMENT),
        (Fault::EndsLeasesEarly, &["a_held_task_is_not_given_away"]),
        (
            Fault::ForgetsAnswersOfEffects,
            &["the_answers_of_the_first_claim_are_kept"],
        ),
        (
            Fault::ForgetsAttempts,
            &["attempts_count_until_there_is_progress"],
        ),
        (Fault::ForgetsEnds, AGREEMENT),
        (
            Fault::HoldsParkedCalls,
            &["a_call_that_is_not_polled_keeps_no_other_waiting"],
        ),
        (
            Fault::KeepsBlobsForever,
            &["a_blob_is_gone_when_its_time_is_up"],
        ),
        (
            Fault::ListsEverything,
            &["a_list_shows_only_the_callers_tasks"],
        ),
        (Fault::LosesNeighbours, &["a_call_that_fails_fails_alone"]),
        (Fault::MixesAnswersUp, AGREEMENT),
        (
            Fault::RunsEffectsTwice,
            &[
                "a_claim_without_a_result_is_ambiguous",
                "an_effect_is_claimed_once_under_concurrency",
            ],
        ),
        (
            Fault::RunsRoundsTwice,
            &[
                "a_retry_with_other_answers_is_refused",
                "the_same_retry_gets_the_stored_response",
            ],
        ),
        (
            Fault::ShowsForeignTasks,
            &["a_foreign_task_looks_like_an_unknown_one"],
        ),
        (Fault::SkipsCommits, AGREEMENT),
        (
            Fault::SleepsOnAnswers,
            &["an_answer_before_the_task_rests_keeps_it_awake"],
        ),
        (Fault::SpoilsNeighbours, &["a_call_that_fails_fails_alone"]),
        (Fault::StallsCommits, &["a_commit_takes_less_than_a_second"]),
        (
            Fault::SwallowsTakenKeys,
            &["a_taken_answer_is_not_handed_out_again"],
        ),
        (
            Fault::UncancelsTasks,
            &[
                "a_late_result_does_not_bring_a_cancelled_task_back",
                "random_histories_go_as_they_go_in_memory",
            ],
        ),
    ] {
        let fresh = move || subject(Some(fault));
        let report = contract::store(move || Box::pin(async move { Ok(fresh()) })).await;
        for sentence in sentences {
            let named = report.broken().iter().any(|(name, _)| name == sentence);
            assert!(named, "{fault:?} does not break {sentence}: {report}");
        }
    }
}

#[tokio::test]
async fn a_ledger_alone_can_be_checked() {
    let report = contract::ledger(|| {
        Box::pin(async {
            let (store, time) = store(None);
            let ledger: Arc<dyn Ledger> = store;
            Ok(Subject::new(ledger, advance(time)))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test]
async fn blobs_alone_can_be_checked() {
    let report = contract::blobs(|| {
        Box::pin(async {
            let (store, time) = store(None);
            let blobs: Arc<dyn Blobs> = store;
            Ok(Subject::new(blobs, advance(time)))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test]
async fn the_operators_view_of_a_store_in_memory_keeps_its_contract() {
    let report = contract::survey(|| {
        Box::pin(async {
            let time = Arc::new(AtomicI64::new(0));
            let clock = Arc::clone(&time);
            let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
            let store = Arc::new(MemoryStore::with_clock(MemoryLimits::default(), now));
            let survey = Arc::clone(&store);
            let both = Arc::new(SurveyedStore { store, survey });
            Ok(Subject::new(both, advance(time)))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

/// The case that finds a fault which shows now and then.
const AGREEMENT: &[&str] = &["random_histories_go_as_they_go_in_memory"];

fn subject(fault: Option<Fault>) -> Subject<dyn Store> {
    let (store, time) = store(fault);
    let store: Arc<dyn Store> = store;
    Subject::new(store, advance(time))
}

fn store(fault: Option<Fault>) -> (Arc<Faulty>, Arc<AtomicI64>) {
    let time = Arc::new(AtomicI64::new(0));
    let clock = Arc::clone(&time);
    let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
    let store = Arc::new(MemoryStore::with_clock(MemoryLimits::default(), now));
    (Arc::new(Faulty::new(store, fault)), time)
}

pub(crate) fn advance(
    time: Arc<AtomicI64>,
) -> impl Fn(Duration) -> BoxFuture<'static, Result<(), Error>> + Send + Sync {
    move |by| {
        time.fetch_add(UnixMillis::span(by), Ordering::Relaxed);
        Box::pin(async { Ok(()) })
    }
}
