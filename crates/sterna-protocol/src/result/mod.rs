//! Results, distinguished by `resultType`.
//!
//! The result types, such as [`CallToolResult`](crate::tool::CallToolResult),
//! do not hold that member, since earlier revisions have the same results
//! without it. [`Complete`] and [`Outcome`] write and read it.

mod complete;
mod outcome;

pub use complete::Complete;
pub use outcome::{Outcome, OutcomeError, OutcomeKind};

use crate::json::JsonObject;
use crate::meta::ResultMeta;

/// Result without members of its own.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(EmptyResult {
    optional: meta = "_meta";
    rest: extra
});
