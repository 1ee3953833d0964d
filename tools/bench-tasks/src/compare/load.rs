//! Callers that each run one task after the other.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

/// A number of callers for a time. Other engines read it as JSON.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Load {
    pub(super) kind: Kind,
    pub(super) callers: u32,
    pub(super) seconds: u32,
}

impl Load {
    pub(super) fn new(kind: Kind, callers: u32, seconds: u32) -> Self {
        Self {
            kind,
            callers,
            seconds,
        }
    }
}

/// The task of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Waits for an answer. Its time is that from the answer until it continues
    Ask,
    /// Runs one step. Its time is that of the caller, until it has the result
    Step,
}

/// The time that a load took, and the time of each of its tasks.
#[derive(Deserialize)]
pub(super) struct Loaded {
    pub(super) seconds: f64,
    pub(super) millis: Vec<f64>,
}

/// Runs `load`: `task` gets the number of its caller, and returns its time.
pub(super) async fn run<F>(load: Load, task: impl Fn(usize) -> F) -> Result<Loaded>
where
    F: Future<Output = Result<Duration>> + Send + 'static,
{
    let since = Instant::now();
    let end = since + Duration::from_secs(load.seconds.into());
    let mut callers = JoinSet::new();
    let begin = |caller| {
        let task = task(caller);
        async move { (caller, task.await) }
    };
    for caller in 0..usize::try_from(load.callers)? {
        callers.spawn(begin(caller));
    }
    let mut millis = Vec::new();
    while let Some(ended) = callers.join_next().await {
        let (caller, took) = ended?;
        millis.push(took?.as_secs_f64() * 1000.0);
        if Instant::now() < end {
            callers.spawn(begin(caller));
        }
    }
    Ok(Loaded {
        seconds: since.elapsed().as_secs_f64(),
        millis,
    })
}
