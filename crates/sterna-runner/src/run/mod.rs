//! The one function that polls a driver.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use sterna_flow::{Driver, Journal, Key, OpenQuestion, Outcome};
use tokio::time::{Sleep, sleep};

use crate::delivery::{Admit, Delivery, Next};

/// Driver of a boxed handler.
pub type Running<T, E> = Driver<'static, dyn Future<Output = Result<T, E>> + Send>;

/// Runs a flow until it ends, waits for its client or is handed over.
///
/// `resume` starts the flow again from the journal of a suspended one. It is
/// called if the client could be asked none of the open questions and each had
/// a fallback.
///
/// An [`Outcome::Suspended`] has been checked: all of its questions were given
/// to [`Delivery::send`].
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
        let fallbacks = deliver(delivery, questions)?;
        if fallbacks.is_empty() {
            return Ok(Outcome::Suspended(suspended));
        }
        *driver = resume(suspended.journal)?;
        for (key, answer) in fallbacks {
            driver.answer(key.as_str(), answer, delivery.now());
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
    for (key, answer) in deliver(delivery, changes.opened)? {
        moved |= driver.answer(key.as_str(), answer, delivery.now());
    }
    Ok(moved)
}

/// Checks a batch of questions and sends it, unless a fallback answers one of a
/// flow that is suspended. Returns the fallbacks.
fn deliver<D: Delivery>(
    delivery: &mut D,
    questions: Vec<OpenQuestion>,
) -> Result<Vec<(Key, Bytes)>, D::Error> {
    let (mut admitted, mut fallbacks) = (Vec::new(), Vec::new());
    for question in questions {
        match delivery.admit(&question)? {
            Admit::FallBack(answer) => fallbacks.push((question.key, answer)),
            Admit::Lacking => {}
            Admit::Send(content) => admitted.push((question, content)),
        }
    }
    if let Some(lacking) = delivery.lacking() {
        return Err(lacking);
    }
    // A suspended flow that has a fallback runs again, and asks the others again.
    if D::SENDS_WHILE_RUNNING || fallbacks.is_empty() {
        for (open, question) in admitted {
            delivery.send(&open, question)?;
        }
    }
    Ok(fallbacks)
}

#[cfg(test)]
mod tests;
