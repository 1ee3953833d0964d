//! The cost of replaying a handler to its next question.
//!
//! `cargo bench -p sterna-flow`

use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use divan::{AllocProfiler, Bencher};
use sha2::{Digest as _, Sha256};
use sterna_flow::{
    BuildMatch, Engine, FlowCx, FlowId, Journal, Limits, Opaque, Outcome, Run, Settings, StepError,
    UnixMillis,
};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// From the bytes of a journal of so many steps to the next question.
#[divan::bench(args = [1, 10, 20, 100, 1000])]
fn replay_to_the_next_question(bencher: Bencher<'_, '_>, steps: usize) {
    let engine = engine();
    let bytes = first_round(&engine, steps);
    bencher.bench(|| next_round(&engine, steps, bytes.clone()));
}

/// The same, with the journal written out again.
#[divan::bench(args = [1, 10, 20, 100, 1000])]
fn replay_and_encode(bencher: Bencher<'_, '_>, steps: usize) {
    let engine = engine();
    let bytes = first_round(&engine, steps);
    bencher.bench(|| next_round(&engine, steps, bytes.clone()).encode());
}

/// A handler that has nothing to remember.
#[divan::bench]
fn finish_without_a_question(bencher: Bencher<'_, '_>) {
    let engine = engine();
    bencher.bench(|| {
        let run = Run::new(engine.clone(), FlowId::from_bytes([7; 16]));
        let mut driver = run.drive(|cx| {
            Box::pin(async move {
                drop(cx);
                Ok::<_, StepError>(1)
            })
        });
        assert!(
            driver
                .poll(NOW, &mut Context::from_waker(Waker::noop()))
                .is_ready()
        );
    });
}

async fn handler(cx: FlowCx<'_>, steps: usize) -> Result<String, StepError> {
    let mut last = String::new();
    for step in 0..steps {
        let name = NAMES[step % NAMES.len()];
        last = cx.step(name, || ready(plan(step))).await;
    }
    let answer = cx.ask("approval", Opaque::new(last)).await;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn plan(step: usize) -> String {
    format!("result of step {step}, as long as a short sentence")
}

fn first_round(engine: &Arc<Engine>, steps: usize) -> Bytes {
    suspend(Run::new(engine.clone(), FlowId::from_bytes([7; 16])), steps).encode()
}

fn next_round(engine: &Arc<Engine>, steps: usize, bytes: Bytes) -> Journal {
    let journal = Journal::decode(bytes, &limits()).expect("it was just encoded");
    let run = Run::new(engine.clone(), FlowId::from_bytes([7; 16]));
    suspend(run.resume(journal, 1, BuildMatch::Same), steps)
}

fn suspend(run: Run, steps: usize) -> Journal {
    let mut driver = run.drive(|cx| Box::pin(handler(cx, steps)));
    loop {
        match driver.poll(NOW, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Outcome::Suspended(suspended)) => return suspended.journal,
            Poll::Ready(other) => unreachable!("the handler asks: {other:?}"),
            Poll::Pending => {}
        }
    }
}

fn engine() -> Arc<Engine> {
    let mut settings = Settings::default();
    settings.limits = limits();
    Arc::new(Engine::new(sha256).settings(settings))
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.entries = 2_000;
    limits
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

const NOW: UnixMillis = UnixMillis::new(1_800_000_000_000);
/// As in a real handler: some names come once, some again and again.
const NAMES: [&str; 10] = [
    "plan", "region", "image", "quota", "price", "row", "owner", "ticket", "network", "disk",
];
