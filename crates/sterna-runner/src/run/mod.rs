//! The one function that polls a driver.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use sterna_flow::{Driver, Journal, Outcome};
use tokio::time::{Sleep, sleep};

use crate::delivery::{Admit, Delivery, Gate, Next};

mod low_level;

pub use low_level::{ask_all, run_low_level};

/// Driver of a boxed handler.
pub type Running<T, E> = Driver<'static, dyn Future<Output = Result<T, E>> + Send>;

/// Runs a flow until it ends, waits for its client or is handed over.
///
/// `resume` starts the flow again from the journal of a suspended one. It is
/// called if the client could be asked none of the open questions and each had
/// a fallback.
///
/// An [`Outcome::Suspended`] has been checked: all of its questions were given
/// to [`Gate::send`].
///
/// # Errors
///
/// The delivery has ended the run.
///
/// # Cancel safety
///
/// Dropping the future drops the handler. A step that has not reached the
/// journal runs again in the next run.
pub async fn run<T, E, D: Delivery>(
    driver: &mut Running<T, E>,
    delivery: &mut D,
    resume: impl Fn(Journal) -> Result<Running<T, E>, D::Error>,
) -> Result<Outcome<T, E>, D::Error> {
    loop {
        let outcome = drive(driver, delivery).await?;
        let Outcome::Suspended(mut suspended) = outcome else {
            return Ok(outcome);
        };
        let questions = std::mem::take(&mut suspended.questions);
        let fallbacks = deliver(delivery, questions, false)?;
        if fallbacks.is_empty() {
            return Ok(Outcome::Suspended(suspended));
        }
        *driver = resume(suspended.journal)?;
        for (question, answer) in fallbacks {
            driver.answer(question.key.as_str(), answer, delivery.now());
        }
    }
}

/// Polls `driver` to its outcome.
async fn drive<T, E, D: Delivery>(
    driver: &mut Running<T, E>,
    delivery: &mut D,
) -> Result<Outcome<T, E>, D::Error> {
    let remote = driver.remote();
    let mut timer = pin!(None::<Sleep>);
    let (mut held, mut ended) = (false, None::<Result<_, D::Error>>);
    poll_fn(|cx| {
        if !delivery.may_continue() {
            remote.shed();
        }
        loop {
            if !held && ended.is_none() {
                let polled = driver.poll(delivery.now(), cx);
                if let Some(misuse) = delivery.misuse() {
                    ended = Some(Err(misuse));
                } else if let Poll::Ready(outcome) = polled {
                    ended = Some(Ok(outcome));
                } else if D::SENDS_WHILE_RUNNING {
                    if delivery.receive(driver) {
                        continue;
                    }
                    match deliver_changes(driver, delivery) {
                        Ok(true) => continue,
                        Ok(false) => {}
                        Err(error) => ended = Some(Err(error)),
                    }
                }
            }
            if ended.is_some() {
                return delivery.poll_settled(cx).map(|settled| {
                    settled?;
                    let outcome = ended.take().expect("a run ends once")?;
                    for diagnostic in driver.take_diagnostics() {
                        delivery.report(diagnostic);
                    }
                    Ok(outcome)
                });
            }
            match delivery.poll(driver, cx)? {
                Next::Poll => {
                    held = false;
                    continue;
                }
                Next::Hold => {
                    held = true;
                    return Poll::Pending;
                }
                Next::Wait => held = false,
            }
            let Some(wake) = driver.next_wake() else {
                timer.set(None);
                return Poll::Pending;
            };
            timer.set(Some(sleep(wake - delivery.now())));
            let over = timer.as_mut().as_pin_mut();
            if !over.is_some_and(|timer| timer.poll(cx).is_ready()) {
                return Poll::Pending;
            }
        }
    })
    .await
}

/// Sends and takes back questions of a flow that runs; `true` if a fallback was
/// handed in.
fn deliver_changes<T, E, D: Delivery>(
    driver: &mut Running<T, E>,
    delivery: &mut D,
) -> Result<bool, D::Error> {
    let changes = driver.changes();
    for key in &changes.withdrawn {
        delivery.withdraw(key);
    }
    let mut moved = false;
    for (question, answer) in deliver(delivery, changes.opened, true)? {
        moved |= driver.answer(question.key.as_str(), answer, delivery.now());
    }
    Ok(moved)
}

/// Checks a batch of questions and sends it, unless a fallback answers one of a
/// flow that is suspended. Returns the fallbacks.
fn deliver<A, G: Gate<A>>(
    gate: &mut G,
    batch: impl IntoIterator<Item = A>,
    sends_beside_fallbacks: bool,
) -> Result<Vec<(A, Bytes)>, G::Error> {
    let batch = batch.into_iter();
    let mut admitted = Vec::with_capacity(batch.size_hint().0);
    let mut fallbacks = Vec::new();
    for asked in batch {
        match gate.admit(&asked)? {
            Admit::FallBack(answer) => fallbacks.push((asked, answer)),
            Admit::Lacking => {}
            Admit::Send(question) => admitted.push((asked, question)),
        }
    }
    if let Some(lacking) = gate.lacking() {
        return Err(lacking);
    }
    // A suspended flow that has a fallback runs again, and asks the others again.
    if !admitted.is_empty() && (sends_beside_fallbacks || fallbacks.is_empty()) {
        gate.charge(admitted.len())?;
        for (asked, question) in admitted {
            gate.send(&asked, question)?;
        }
    }
    Ok(fallbacks)
}

#[cfg(test)]
mod tests;
