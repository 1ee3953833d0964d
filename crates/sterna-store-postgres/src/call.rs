//! One call of the store, from the first try to the last.

use std::time::Duration;

use deadpool_postgres::Pool;
use sterna_store::{Backoff, Error};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use crate::Schema;
use crate::error::{Failure, no_connection, too_slow};
use crate::rows::Operation;
use crate::session::{Session, random};

/// Everything that a call needs.
pub(crate) struct Caller {
    pub(crate) pool: Pool,
    pub(crate) schema: Schema,
    /// Longest duration of one try, once it has a connection.
    pub(crate) limit: Duration,
    pub(crate) attempts: u32,
    /// Time in which a standby is promoted; zero if there is none.
    pub(crate) failover: Duration,
}

impl Caller {
    /// Runs `operation`, with further tries if need be, and returns its result.
    ///
    /// If the other side of `tell` is gone, no further try is made. A try that
    /// has begun goes on to its end.
    pub(crate) async fn call<O: Operation>(
        &self,
        operation: &O,
        mut tell: oneshot::Sender<Result<O::Output, Error>>,
    ) {
        let longest = match self.failover {
            Duration::ZERO => Duration::from_secs(5),
            // Work goes on soon after the promotion.
            _ => Duration::from_secs(1),
        };
        let mut backoff = Backoff::new(Duration::from_millis(100), longest);
        let (begun, mut attempt) = (Instant::now(), 1);
        let result = loop {
            let connection = tokio::select! {
                biased;
                connection = self.pool.get() => connection.map_err(no_connection),
                () = tell.closed() => return,
            };
            let result = match connection {
                Ok(connection) => {
                    let session = Session::new(connection, &self.schema);
                    self.attempt(operation, session).await
                }
                Err(failure) => Err(failure),
            };
            match result {
                Err(failure) if attempt < self.attempts && failure.is_passing() => attempt += 1,
                Err(failure) if begun.elapsed() < self.failover && failure.may_pass_elsewhere() => {
                }
                result => break result,
            }
            tokio::select! {
                () = sleep(backoff.pause(random())) => {}
                () = tell.closed() => return,
            }
        };
        // Fails if the caller has given up meanwhile: it needs no result.
        let _ = tell.send(result.map_err(Error::from));
    }

    async fn attempt<O: Operation>(
        &self,
        operation: &O,
        session: Session<'_>,
    ) -> Result<O::Output, Failure> {
        let attempt = timeout(operation.limit(self.limit), async {
            let result = operation.run(&session).await;
            if !result.as_ref().is_err_and(Failure::is_fatal) {
                session.give_back().await;
            }
            result
        });
        let result = attempt.await.unwrap_or_else(|_| Err(stalled()));
        self.leave_lost_server(&result);
        result
    }

    /// Closes the connections that are not in use, if one of them was lost: the
    /// others go to the same server, and each would be waited for.
    pub(crate) fn leave_lost_server<T>(&self, result: &Result<T, Failure>) {
        if !self.failover.is_zero() && result.as_ref().is_err_and(Failure::is_fatal) {
            self.pool.retain(|_, _| false);
        }
    }
}

/// The server did not answer in time.
pub(crate) fn stalled() -> Failure {
    Failure::Stalled(too_slow())
}
