//! The end in the middle of it all.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::task::JoinSet;

use super::client::Client;
use super::runtime;
use crate::good::{Post, call};
use crate::subject::Subject;

/// What became of the calls of a server that was stopped.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stopped {
    /// Calls that were begun, and were all finished and answered.
    pub answered: u64,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} calls begun, finished and answered", self.answered)
    }
}

/// Calls a server of `program` on `clients` connections without a pause, and
/// tells it to stop in the middle.
///
/// # Errors
///
/// An answer that is none, a call that was begun and not answered, or a
/// connection that was cut.
pub fn stop_under_load(program: &Path, clients: usize) -> Result<Stopped> {
    let mut subject = Subject::start(program, &[])?;
    let answered = runtime()?.block_on(call_to_the_end(&mut subject, clients))?;
    let end = subject.last_words()?;
    let counts = (end.begun, end.finished, end.cut);
    ensure!(
        counts == (answered, answered, 0),
        "{answered} answers, but {end:?}"
    );
    Ok(Stopped { answered })
}

async fn call_to_the_end(subject: &mut Subject, clients: usize) -> Result<u64> {
    let slow = Post::of(&call("slow", "slow", &json!({"millis": MILLIS}))).to_bytes();
    let answered = Arc::new(AtomicU64::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..clients {
        let mut client = Client::connect(subject).await?;
        let (slow, answered) = (slow.clone(), Arc::clone(&answered));
        callers.spawn(async move {
            // Ends when the server hangs up instead of answering.
            while let Ok(answer) = client.call(&slow).await {
                answer.must_be(200)?;
                answered.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        });
    }
    while answered.load(Ordering::Relaxed) < 10 * u64::try_from(clients)? {
        tokio::task::yield_now().await;
    }
    subject.tell_to_stop();
    while let Some(caller) = callers.join_next().await {
        caller??;
    }
    Ok(answered.load(Ordering::Relaxed))
}

/// How long a call takes: long enough to be in the middle of it.
const MILLIS: u64 = 20;
