//! The cost of the engine, counted, so that it cannot grow unseen.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use allocation_counter::measure;
use sterna_flow::{
    BuildMatch, Engine, FlowCx, FlowId, Journal, Limits, Opaque, Outcome, Run, StepError,
    UnixMillis,
};

use crate::kit::{settings, sha256};

/// Its future in a box, what it shares with its driver, and its waker.
#[test]
fn a_handler_that_asks_nothing_takes_three_allocations() {
    async fn echo(_cx: FlowCx<'_>, number: u64) -> Result<u64, Infallible> {
        ready(Ok(number)).await
    }
    let engine = engine();
    let cost = measure(|| {
        let run = Run::new(engine.clone(), FLOW);
        let mut driver = run.drive(|cx| Box::pin(echo(cx, 7)));
        let polled = driver.poll(NOW, &mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Ready(Outcome::Finished(7))));
    });
    assert_eq!(cost.count_total, 3);
    assert_eq!(cost.count_current, 0);
}

#[test]
fn twenty_entries_are_replayed_in_fewer_than_sixty_allocations() {
    let allocations = replay(20);
    assert!(allocations < 60, "{allocations}");
}

/// Every entry costs what every other does, however many there are.
#[test]
fn a_replay_grows_with_its_journal_and_not_faster() {
    let (hundred, thousand) = (replay(100), replay(1000));
    assert!(thousand < 10 * hundred, "{hundred} and then {thousand}");
    assert!(hundred < 3 * 100, "{hundred}");
}

/// Allocations from the bytes of a journal of so many steps to the next question.
fn replay(steps: usize) -> u64 {
    let engine = engine();
    let bytes = suspend(Run::new(engine.clone(), FLOW), steps).encode();
    let cost = measure(|| {
        let journal = Journal::decode(bytes.clone(), &engine_limits()).unwrap();
        let run = Run::new(engine.clone(), FLOW).resume(journal, 1, BuildMatch::Same);
        suspend(run, steps);
    });
    cost.count_total
}

async fn handler(cx: FlowCx<'_>, steps: usize) -> Result<(), StepError> {
    const NAMES: [&str; 5] = ["plan", "region", "image", "row", "price"];
    for step in 0..steps {
        let name = NAMES[step % NAMES.len()];
        cx.step(name, || ready("a result".to_owned())).await;
    }
    cx.ask("approval", Opaque::new("Deploy?")).await;
    Ok(())
}

fn suspend(run: Run, steps: usize) -> Journal {
    let mut driver = run.drive(|cx| Box::pin(handler(cx, steps)));
    loop {
        match driver.poll(NOW, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Outcome::Suspended(suspended)) => return suspended.journal,
            Poll::Ready(other) => panic!("the handler asks: {other:?}"),
            Poll::Pending => {}
        }
    }
}

fn engine() -> Arc<Engine> {
    let settings = settings(|settings| settings.limits = engine_limits());
    Arc::new(Engine::new(sha256).settings(settings))
}

fn engine_limits() -> Limits {
    let mut limits = Limits::default();
    limits.entries = 2_000;
    limits
}

const FLOW: FlowId = FlowId::from_bytes([7; 16]);
const NOW: UnixMillis = UnixMillis::new(1_800_000_000_000);
