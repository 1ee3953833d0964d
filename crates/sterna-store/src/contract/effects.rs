//! An effect runs at most once.

use bytes::Bytes;

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{HOUR, MINUTE, bytes, claimant, flow, name, together};
use crate::{Effect, EffectClaim, ErrorKind, Ledger, OnceClaim};

cases! { dyn Ledger:
    an_effect_is_claimed_once_under_concurrency,
    a_claim_may_be_repeated_by_its_owner,
    a_claim_without_a_result_is_ambiguous,
    a_result_is_kept_for_everybody,
    the_answers_of_the_first_claim_are_kept,
    only_the_owner_records_a_result,
    a_result_recorded_again_is_harmless,
    effects_of_other_flows_and_keys_are_others,
    an_expired_effect_may_be_claimed_again,
    expired_effects_are_swept,
}

fn charge() -> Effect {
    Effect::new(flow(1), name("charge"))
}

async fn an_effect_is_claimed_once_under_concurrency(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    for round in 0..10 {
        let effect = Effect::new(flow(round), name("charge"));
        let claims =
            (0..8).map(|n| store.claim_once(effect.clone(), EffectClaim::new(claimant(n), HOUR)));
        let mut won = 0;
        for claim in together(claims.collect()).await {
            match claim? {
                OnceClaim::Won => won += 1,
                OnceClaim::Ambiguous { .. } => {}
                other @ OnceClaim::Settled { .. } => {
                    return Err(Broken::new(format!("settled without a result: {other:?}")));
                }
            }
        }
        same(won, 1)?;
    }
    Ok(())
}

async fn a_claim_may_be_repeated_by_its_owner(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    for _ in 0..2 {
        let claim = store
            .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
            .await?;
        same(claim, OnceClaim::Won)?;
    }
    Ok(())
}

async fn a_claim_without_a_result_is_ambiguous(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    store
        .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
        .await?;
    subject.advance(MINUTE).await?;
    match store
        .claim_once(charge(), EffectClaim::new(claimant(2), HOUR))
        .await?
    {
        OnceClaim::Ambiguous { age, .. } if age >= MINUTE && age < MINUTE * 2 => Ok(()),
        other => Err(Broken::new(format!(
            "wanted a minute's doubt, got {other:?}"
        ))),
    }
}

async fn a_result_is_kept_for_everybody(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    store
        .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
        .await?;
    store
        .settle_once(charge(), claimant(1), bytes("receipt"))
        .await?;
    for who in [1, 2] {
        let claim = store
            .claim_once(charge(), EffectClaim::new(claimant(who), HOUR))
            .await?;
        same(claim, settled("receipt"))?;
    }
    Ok(())
}

async fn the_answers_of_the_first_claim_are_kept(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    let claim = |who, answers: &str| {
        let claim = EffectClaim::new(claimant(who), HOUR).with_answers(bytes(answers));
        store.claim_once(charge(), claim)
    };
    same(claim(1, "one").await?, OnceClaim::Won)?;
    match claim(2, "a thousand").await? {
        OnceClaim::Ambiguous { answers, .. } => same(answers, bytes("one"))?,
        other => return Err(Broken::new(format!("wanted doubt, got {other:?}"))),
    }
    store
        .settle_once(charge(), claimant(1), bytes("receipt"))
        .await?;
    for who in [1, 2] {
        let settled = OnceClaim::Settled {
            result: bytes("receipt"),
            answers: bytes("one"),
        };
        same(claim(who, "a thousand").await?, settled)?;
    }
    // A claim after that has answers of its own.
    subject.advance(HOUR * 2).await?;
    same(claim(3, "two").await?, OnceClaim::Won)?;
    match claim(4, "a thousand").await? {
        OnceClaim::Ambiguous { answers, .. } => same(answers, bytes("two")),
        other => Err(Broken::new(format!("wanted doubt, got {other:?}"))),
    }
}

fn settled(result: &str) -> OnceClaim {
    OnceClaim::Settled {
        result: bytes(result),
        answers: Bytes::new(),
    }
}

async fn only_the_owner_records_a_result(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    let unclaimed = store
        .settle_once(charge(), claimant(1), bytes("forged"))
        .await;
    refused(unclaimed, ErrorKind::Fenced)?;
    store
        .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
        .await?;
    let foreign = store
        .settle_once(charge(), claimant(2), bytes("forged"))
        .await;
    refused(foreign, ErrorKind::Fenced)?;
    let claim = store
        .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
        .await?;
    same(claim, OnceClaim::Won)
}

async fn a_result_recorded_again_is_harmless(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    store
        .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
        .await?;
    for _ in 0..2 {
        store
            .settle_once(charge(), claimant(1), bytes("receipt"))
            .await?;
    }
    let other = store
        .settle_once(charge(), claimant(1), bytes("other"))
        .await;
    refused(other, ErrorKind::Conflict)?;
    let claim = store
        .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
        .await?;
    same(claim, settled("receipt"))
}

async fn effects_of_other_flows_and_keys_are_others(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    for effect in [
        charge(),
        Effect::new(flow(2), name("charge")),
        Effect::new(flow(1), name("Charge")),
    ] {
        let claim = subject
            .store()
            .claim_once(effect, EffectClaim::new(claimant(1), HOUR))
            .await?;
        same(claim, OnceClaim::Won)?;
    }
    Ok(())
}

async fn an_expired_effect_may_be_claimed_again(
    subject: Subject<dyn Ledger>,
) -> Result<(), Broken> {
    let store = subject.store();
    store
        .claim_once(charge(), EffectClaim::new(claimant(1), HOUR))
        .await?;
    store
        .settle_once(charge(), claimant(1), bytes("receipt"))
        .await?;
    subject.advance(HOUR * 2).await?;
    let late = store
        .settle_once(charge(), claimant(1), bytes("receipt"))
        .await;
    refused(late, ErrorKind::Fenced)?;
    let claim = store
        .claim_once(charge(), EffectClaim::new(claimant(2), HOUR))
        .await?;
    same(claim, OnceClaim::Won)?;
    store
        .settle_once(charge(), claimant(2), bytes("second"))
        .await?;
    Ok(())
}

async fn expired_effects_are_swept(subject: Subject<dyn Ledger>) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..5 {
        let effect = Effect::new(flow(number), name("charge"));
        store
            .claim_once(effect, EffectClaim::new(claimant(1), HOUR))
            .await?;
    }
    let kept = Effect::new(flow(9), name("charge"));
    store
        .claim_once(kept.clone(), EffectClaim::new(claimant(1), HOUR * 9))
        .await?;
    same(store.sweep_ledger(10).await?, 0)?;
    subject.advance(HOUR * 2).await?;
    same(store.sweep_ledger(3).await?, 3)?;
    same(store.sweep_ledger(3).await?, 2)?;
    let claim = store
        .claim_once(kept, EffectClaim::new(claimant(1), HOUR))
        .await?;
    same(claim, OnceClaim::Won)
}
