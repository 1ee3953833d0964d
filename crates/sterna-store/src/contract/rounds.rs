//! A round is answered once.

use std::time::Duration;

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{HOUR, MINUTE, bytes, claimant, flow, together};
use crate::{ErrorKind, Ledger, Round, RoundClaim, RoundEntry};

cases! { dyn Ledger:
    the_same_retry_gets_the_stored_response,
    a_retry_with_other_answers_is_refused,
    a_concurrent_retry_is_told_to_wait,
    a_round_has_one_winner_under_concurrency,
    a_round_has_one_winner_among_different_answers,
    a_round_whose_owner_is_silent_is_taken_over,
    other_answers_are_refused_even_after_the_owner_died,
    an_owner_who_speaks_up_keeps_the_round,
    an_owner_who_wants_no_time_lets_the_round_go_at_once,
    a_late_owner_can_not_answer_a_round_taken_over,
    a_response_stored_again_is_harmless,
    rounds_and_flows_do_not_mix,
    expired_rounds_are_forgotten,
}

const ROUND: Round = Round::new(flow_one(), 3);

const fn flow_one() -> crate::FlowId {
    crate::FlowId::from_bytes([1; 16])
}

/// An arrival of the answers `digest`, by `who`, who may be silent for a minute.
fn arrival(digest: u8, who: u8) -> RoundEntry {
    let mut entry = RoundEntry::new([digest; 32], claimant(who), HOUR);
    entry.length = MINUTE;
    entry
}

async fn the_same_retry_gets_the_stored_response(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    same(
        store.enter_round(ROUND, arrival(1, 1)).await?,
        RoundClaim::Yours,
    )?;
    store
        .complete_round(ROUND, claimant(1), bytes("response"))
        .await?;
    subject.advance(MINUTE * 2).await?;
    for who in [1, 2] {
        let entered = store.enter_round(ROUND, arrival(1, who)).await?;
        same(entered, RoundClaim::Answered(bytes("response")))?;
    }
    Ok(())
}

async fn a_retry_with_other_answers_is_refused(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    store.enter_round(ROUND, arrival(1, 1)).await?;
    same(
        store.enter_round(ROUND, arrival(2, 2)).await?,
        RoundClaim::Other,
    )?;
    store
        .complete_round(ROUND, claimant(1), bytes("response"))
        .await?;
    same(
        store.enter_round(ROUND, arrival(2, 2)).await?,
        RoundClaim::Other,
    )
}

async fn a_concurrent_retry_is_told_to_wait(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    store.enter_round(ROUND, arrival(1, 1)).await?;
    subject.advance(MINUTE / 2).await?;
    match store.enter_round(ROUND, arrival(1, 2)).await? {
        RoundClaim::Busy { age } if age >= MINUTE / 2 && age < MINUTE => {}
        other => return Err(Broken::new(format!("wanted to wait, got {other:?}"))),
    }
    store
        .complete_round(ROUND, claimant(1), bytes("response"))
        .await?;
    let entered = store.enter_round(ROUND, arrival(1, 2)).await?;
    same(entered, RoundClaim::Answered(bytes("response")))
}

async fn a_round_has_one_winner_under_concurrency(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..10 {
        let round = Round::new(flow(1), number);
        let arrivals = (0..8).map(|who| store.enter_round(round, arrival(1, who)));
        let mut winners = 0;
        for entered in together(arrivals.collect()).await {
            match entered? {
                RoundClaim::Yours => winners += 1,
                RoundClaim::Busy { .. } => {}
                other => return Err(Broken::new(format!("got {other:?}"))),
            }
        }
        same(winners, 1)?;
    }
    Ok(())
}

async fn a_round_has_one_winner_among_different_answers(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..10 {
        let round = Round::new(flow(1), number);
        let arrivals = (0..8).map(|who| store.enter_round(round, arrival(who, who)));
        let mut winners = 0;
        for entered in together(arrivals.collect()).await {
            match entered? {
                RoundClaim::Yours => winners += 1,
                RoundClaim::Other => {}
                other => return Err(Broken::new(format!("got {other:?}"))),
            }
        }
        same(winners, 1)?;
    }
    Ok(())
}

async fn a_round_whose_owner_is_silent_is_taken_over(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    store.enter_round(ROUND, arrival(1, 1)).await?;
    subject.advance(MINUTE * 2).await?;
    let arrivals = (2..8).map(|who| store.enter_round(ROUND, arrival(1, who)));
    let mut winners = 0;
    for entered in together(arrivals.collect()).await {
        winners += u32::from(entered? == RoundClaim::Yours);
    }
    same(winners, 1)
}

async fn other_answers_are_refused_even_after_the_owner_died(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    store.enter_round(ROUND, arrival(1, 1)).await?;
    subject.advance(MINUTE * 2).await?;
    same(
        store.enter_round(ROUND, arrival(2, 2)).await?,
        RoundClaim::Other,
    )?;
    same(
        store.enter_round(ROUND, arrival(1, 3)).await?,
        RoundClaim::Yours,
    )
}

async fn an_owner_who_speaks_up_keeps_the_round(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    for _ in 0..3 {
        same(
            store.enter_round(ROUND, arrival(1, 1)).await?,
            RoundClaim::Yours,
        )?;
        subject.advance(MINUTE * 3 / 4).await?;
    }
    let entered = store.enter_round(ROUND, arrival(1, 2)).await?;
    same(
        matches!(entered, RoundClaim::Busy { age } if age > MINUTE * 2),
        true,
    )?;
    store
        .complete_round(ROUND, claimant(1), bytes("response"))
        .await?;
    Ok(())
}

async fn an_owner_who_wants_no_time_lets_the_round_go_at_once(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    store.enter_round(ROUND, arrival(1, 1)).await?;
    let mut leaving = arrival(1, 1);
    leaving.length = Duration::ZERO;
    same(store.enter_round(ROUND, leaving).await?, RoundClaim::Yours)?;
    // What was answered still counts; who answers is open.
    same(
        store.enter_round(ROUND, arrival(2, 2)).await?,
        RoundClaim::Other,
    )?;
    same(
        store.enter_round(ROUND, arrival(1, 3)).await?,
        RoundClaim::Yours,
    )?;
    let late = store
        .complete_round(ROUND, claimant(1), bytes("late"))
        .await;
    refused(late, ErrorKind::Fenced)?;
    store
        .complete_round(ROUND, claimant(3), bytes("response"))
        .await?;
    Ok(())
}

async fn a_late_owner_can_not_answer_a_round_taken_over(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    let early = store
        .complete_round(ROUND, claimant(1), bytes("early"))
        .await;
    refused(early, ErrorKind::Fenced)?;
    store.enter_round(ROUND, arrival(1, 1)).await?;
    subject.advance(MINUTE * 2).await?;
    same(
        store.enter_round(ROUND, arrival(1, 2)).await?,
        RoundClaim::Yours,
    )?;
    let late = store
        .complete_round(ROUND, claimant(1), bytes("late"))
        .await;
    refused(late, ErrorKind::Fenced)?;
    store
        .complete_round(ROUND, claimant(2), bytes("response"))
        .await?;
    let late = store
        .complete_round(ROUND, claimant(1), bytes("late"))
        .await;
    refused(late, ErrorKind::Fenced)?;
    let entered = store.enter_round(ROUND, arrival(1, 1)).await?;
    same(entered, RoundClaim::Answered(bytes("response")))
}

async fn a_response_stored_again_is_harmless(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    store.enter_round(ROUND, arrival(1, 1)).await?;
    for _ in 0..2 {
        store
            .complete_round(ROUND, claimant(1), bytes("response"))
            .await?;
    }
    let other = store
        .complete_round(ROUND, claimant(1), bytes("other"))
        .await;
    refused(other, ErrorKind::Conflict)
}

async fn rounds_and_flows_do_not_mix(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    for (digest, round) in [
        (1, Round::new(flow(1), 0)),
        (2, Round::new(flow(1), 1)),
        (3, Round::new(flow(2), 0)),
        (4, Round::new(flow(1), u32::MAX)),
    ] {
        let entered = subject
            .store()
            .enter_round(round, arrival(digest, 1))
            .await?;
        same(entered, RoundClaim::Yours)?;
    }
    Ok(())
}

async fn expired_rounds_are_forgotten(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..3 {
        let round = Round::new(flow(1), number);
        store.enter_round(round, arrival(1, 1)).await?;
        store
            .complete_round(round, claimant(1), bytes("response"))
            .await?;
    }
    same(store.sweep_ledger(10).await?, 0)?;
    subject.advance(HOUR * 2).await?;
    let late = store
        .complete_round(Round::new(flow(1), 0), claimant(1), bytes("response"))
        .await;
    refused(late, ErrorKind::Fenced)?;
    let anew = store
        .enter_round(Round::new(flow(1), 0), arrival(2, 2))
        .await?;
    same(anew, RoundClaim::Yours)?;
    same(store.sweep_ledger(10).await?, 2)?;
    let entered = store
        .enter_round(Round::new(flow(1), 0), arrival(2, 2))
        .await?;
    same(entered, RoundClaim::Yours)
}
