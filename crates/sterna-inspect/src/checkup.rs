//! An examination of the server that runs beside the pages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use sterna_http::clock;
use tokio::task::JoinSet;

use crate::calls::Calls;
use crate::connections::Connector;
use crate::doctor::{Examination, Report};

/// The latest examination.
#[derive(Debug)]
pub(crate) struct Checkup {
    state: Arc<Mutex<CheckupState>>,
    running: Mutex<JoinSet<()>>,
    /// The pages that are open are told of its end through it.
    calls: Arc<Calls>,
}

/// State of an examination.
#[derive(Clone, Debug, Default)]
pub(crate) enum CheckupState {
    Done(Arc<Report>),
    Failed(String),
    #[default]
    None,
    Running(Instant),
}

impl Checkup {
    pub(crate) fn new(calls: Arc<Calls>) -> Self {
        Self {
            state: Arc::default(),
            running: Mutex::default(),
            calls,
        }
    }

    pub(crate) fn state(&self) -> CheckupState {
        lock(&self.state).clone()
    }

    /// Begins an examination, unless one is running.
    pub(crate) fn begin(&self, examination: Examination, connector: Connector) {
        {
            let mut state = lock(&self.state);
            if matches!(*state, CheckupState::Running(_)) {
                return;
            }
            *state = CheckupState::Running(clock::now());
        }
        let (state, calls) = (Arc::clone(&self.state), Arc::clone(&self.calls));
        let mut running = lock(&self.running);
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            let ended = match examination.run(&*connector).await {
                Ok(report) => CheckupState::Done(Arc::new(report)),
                Err(error) => CheckupState::Failed(with_causes(&error)),
            };
            *lock(&state) = ended;
            calls.notify();
        });
    }

    /// Ends an examination that runs.
    pub(crate) async fn stop(&self) {
        let mut running = std::mem::take(&mut *lock(&self.running));
        running.shutdown().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one assignment, so a panic leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
