//! The one place where the server reads a clock.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// The moment, for measuring how long something takes.
///
/// Tokio's clock, so that a test which stops it stops us too.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The moment as the world counts it, for times that come in tokens.
pub fn wall() -> SystemTime {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only place that reads the clock"
    )]
    let real = SystemTime::now;
    OTHER.try_with(|other| other()).unwrap_or_else(|_| real())
}

/// Runs `future` by a wall clock of its own, for tests that turn clocks: what
/// the server seals, opens and expires inside is dated by `wall`.
///
/// It reaches what is polled as part of `future` and the workers of tasks, but
/// no other task that is spawned.
///
/// # Cancel safety
///
/// That of `future`.
pub async fn by_wall_clock<F: Future>(
    wall: impl Fn() -> SystemTime + Send + Sync + 'static,
    future: F,
) -> F::Output {
    OTHER.scope(Arc::new(wall), future).await
}

/// Hands the wall clock of this task on to one that it spawns.
pub fn handed_on<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let other = OTHER.try_with(Arc::clone).ok();
    async move {
        match other {
            Some(other) => OTHER.scope(other, future).await,
            None => future.await,
        }
    }
}

tokio::task_local! {
    static OTHER: Arc<dyn Fn() -> SystemTime + Send + Sync>;
}
