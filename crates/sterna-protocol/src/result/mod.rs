//! Results, told apart by `resultType`.
//!
//! The types of results, such as [`CallToolResult`](crate::tool::CallToolResult),
//! do not hold that member: earlier revisions know the same results without
//! it. [`Complete`] and [`Outcome`] add it on the way out and look at it on the
//! way in.

mod complete;
mod outcome;

pub use complete::Complete;
pub use outcome::{Outcome, OutcomeError, OutcomeKind};

use crate::json::JsonObject;
use crate::meta::ResultMeta;

/// A result that says nothing but that all went well.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EmptyResult {
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(EmptyResult {
    optional: meta = "_meta";
    rest: extra
});
