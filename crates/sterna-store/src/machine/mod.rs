//! The rules of a task, for those who write a store.
//!
//! A store locks the row of a task, loads its [`Control`], lets a method of it
//! decide, and writes both back in the same transaction. Every rule about
//! leases, fences, questions and ends is in here; a store adds durability.

mod commit;
mod control;
mod ledger;
mod questions;
mod turns;

#[cfg(test)]
mod tests;

pub use commit::{Changes, Known, opening};
pub use control::{Control, over_quota};
pub use ledger::{EffectRecord, RoundRecord, not_yours};
pub use turns::turns;
