//! Several stores that behave as one.

mod ring;
mod shard;

mod set;

mod claim;
mod ledger;
mod survey;
mod tasks;

pub use ring::Rings;
pub use set::Shards;
pub use shard::Shard;
pub use survey::ShardsSurvey;
