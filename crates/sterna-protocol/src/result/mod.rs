//! Results, distinguished by `resultType`.
//!
//! The result types, such as [`CallToolResult`](crate::tool::CallToolResult),
//! do not hold that member, since earlier revisions have the same results
//! without it. [`Complete`] and [`Outcome`] write and read it.

mod complete;
mod outcome;

pub use complete::Complete;
pub use outcome::{Outcome, OutcomeError, OutcomeKind};

use crate::meta::ResultMeta;

wire! {
    /// Result without members of its own.
    #[derive(Default)]
    pub struct EmptyResult {
        optional {
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }
}
