//! Rows and what happens to them: one operation for each verb of a store.

mod codec;
mod head;
mod locked;
mod writes;

pub(crate) mod blob;
pub(crate) mod claim;
pub(crate) mod commit;
pub(crate) mod create;
pub(crate) mod damage;
pub(crate) mod effect;
pub(crate) mod end;
pub(crate) mod inbox;
pub(crate) mod read;
pub(crate) mod round;
pub(crate) mod survey;
pub(crate) mod usage;
pub(crate) mod verb;

use std::time::Duration;

pub(crate) use locked::{LockedElsewhere, LockedTask, Needs};
pub(crate) use writes::Writes;

use crate::error::Failure;
use crate::session::Session;

/// A call that can be tried more than once.
pub(crate) trait Operation: Send + Sync {
    /// The result of the operation.
    type Output: Send + 'static;

    /// Longest duration of one try, if the usual one is `limit`.
    fn limit(&self, limit: Duration) -> Duration {
        limit
    }

    /// One try.
    fn run(
        &self,
        session: &Session<'_>,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// The only clock of the store, in SQL.
macro_rules! now {
    () => {
        "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"
    };
}
use now;
