//! No bytes stop the decoder or the engine, and a journal has one spelling.
#![no_main]

use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use sterna_flow::{
    BuildMatch, Engine, Entry, Error, FlowCx, FlowId, Journal, Limits, Opaque, Outcome, Run,
    StepError, UnixMillis,
};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default();
    if let Ok(entry) = Entry::from_bytes(bytes.to_vec().into(), &limits) {
        assert_eq!(entry.to_bytes(), bytes, "an entry has another spelling");
    }
    let Ok(journal) = Journal::decode(bytes.to_vec(), &limits) else {
        return;
    };
    assert_eq!(journal.encode(), bytes, "a journal has another spelling");
    for entry in journal.entries() {
        assert_eq!(journal.entry(entry.key().as_str()), Some(entry));
    }
    replay(journal);
});

/// Whatever a journal says, the run comes to an end or to rest.
fn replay(journal: Journal) {
    let engine = Arc::new(Engine::new(digest));
    let run = Run::new(engine, FlowId::from_bytes([7; 16])).resume(journal, 1, BuildMatch::Other);
    let mut driver = run.drive(|cx| Box::pin(handler(cx)));
    for turn in 0..8 {
        let now = UnixMillis::new(1_800_000_000_000 + turn * 60_000);
        driver.answer("a", "A", now);
        let polled = driver.poll(now, &mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(outcome) = polled {
            if let Outcome::Stopped(Error::Panicked { message, .. }) = outcome {
                panic!("{message}");
            }
            return;
        }
    }
}

/// Comes by everything that a journal can hold, under names of one letter.
async fn handler(cx: FlowCx<'_>) -> Result<usize, StepError> {
    let started = cx.now("n").await;
    let step = cx.try_step("s", || ready(Ok::<u8, String>(1))).await?;
    let minute = Duration::from_secs(60);
    let questions = ["a", "b"].map(|name| cx.ask(name, Opaque::new(name)).deadline(minute));
    let answers = cx.join_all(questions).await;
    cx.sleep("w", Duration::from_millis(started.get().unsigned_abs() % 7))
        .await;
    let inside = cx.memo("m", |cx| async move {
        cx.checkpoint("c").await;
        cx.race("r", (ready(1), ready(2))).await
    });
    Ok(usize::from(step) + inside.await + answers.into_iter().flatten().count())
}

fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = [0; 32];
    for (at, byte) in parts.concat().into_iter().enumerate() {
        sum[at % 32] ^= byte.rotate_left((at / 32) as u32);
    }
    sum
}
