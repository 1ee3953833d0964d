//! One try of one call, on one connection.

use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use deadpool_postgres::Object;
use sterna_store::BoxFuture;
use tokio_postgres::Row;

use crate::Schema;
use crate::error::Failure;
use crate::statement::Statement;

/// A connection while it is in use.
///
/// It goes back to the pool when it is [given back](Self::give_back). Dropped
/// before, it is closed, because it may still wait for a response.
pub(crate) struct Session<'a> {
    connection: Option<Object>,
    schema: &'a Schema,
    in_transaction: AtomicBool,
}

impl<'a> Session<'a> {
    pub(crate) fn new(connection: Object, schema: &'a Schema) -> Self {
        Self {
            connection: Some(connection),
            schema,
            in_transaction: AtomicBool::new(false),
        }
    }

    pub(crate) fn schema(&self) -> &'a Schema {
        self.schema
    }

    /// Runs a statement.
    pub(crate) async fn run(&self, statement: Statement<'_>) -> Result<Vec<Row>, Failure> {
        let sql = statement.sql(self.schema);
        // A statement without a name lives for one round trip, which a pooler
        // in transaction mode does not tear apart.
        Ok(self.client().query_typed(&sql, &statement.values()).await?)
    }

    /// Begins a transaction with `statements`, all in one round trip.
    pub(crate) async fn begin(
        &self,
        statements: impl IntoIterator<Item = Statement<'_>>,
    ) -> Result<Vec<Vec<Row>>, Failure> {
        self.in_transaction.store(true, Ordering::Relaxed);
        let mut steps = vec![self.control("BEGIN")];
        steps.extend(statements.into_iter().map(|statement| self.step(statement)));
        let mut rows = pipeline(steps).await?;
        rows.remove(0);
        Ok(rows)
    }

    /// Ends the transaction with `statements`, all in one round trip.
    pub(crate) async fn commit(
        &self,
        statements: impl IntoIterator<Item = Statement<'_>>,
    ) -> Result<Vec<Vec<Row>>, Failure> {
        let mut steps: Vec<_> = statements
            .into_iter()
            .map(|statement| self.step(statement))
            .collect();
        steps.push(self.control("COMMIT"));
        // If one of them fails, COMMIT rolls back.
        let rows = pipeline(steps).await?;
        self.in_transaction.store(false, Ordering::Relaxed);
        Ok(rows)
    }

    /// Runs statements without values, within the transaction.
    pub(crate) async fn script(&self, sql: &str) -> Result<(), Failure> {
        Ok(self.client().batch_execute(sql).await?)
    }

    /// Leaves nothing open and returns the connection to the pool.
    pub(crate) async fn give_back(mut self) {
        if self.in_transaction.load(Ordering::Relaxed)
            && self.client().batch_execute("ROLLBACK").await.is_err()
        {
            return;
        }
        drop(self.connection.take());
    }

    fn client(&self) -> &tokio_postgres::Client {
        self.connection
            .as_ref()
            .expect("it is taken only when the session ends")
    }

    fn step<'s>(&'s self, statement: Statement<'s>) -> BoxFuture<'s, Result<Vec<Row>, Failure>> {
        Box::pin(self.run(statement))
    }

    fn control(&self, sql: &'static str) -> BoxFuture<'_, Result<Vec<Row>, Failure>> {
        Box::pin(async move {
            self.client().batch_execute(sql).await?;
            Ok(Vec::new())
        })
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(Object::take(connection));
        }
    }
}

/// Sends everything at once, in order, and waits for all of it. The first
/// failure is the one that caused the others.
async fn pipeline(
    mut steps: Vec<BoxFuture<'_, Result<Vec<Row>, Failure>>>,
) -> Result<Vec<Vec<Row>>, Failure> {
    let mut done: Vec<_> = steps.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (step, done) in steps.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(result) = step.as_mut().poll(cx)
            {
                *done = Some(result);
            }
        }
        if done.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Number that differs between instances, to spread their retries.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
