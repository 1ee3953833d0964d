//! Types that the Sterna crates share: [`FlowId`], [`BlobId`], [`Principal`]
//! and [`UnixMillis`].
//!
//! Tokens, journals and rows of a store contain these values. Each of the
//! crates that write them re-exports the types it uses, so a value goes from
//! one crate to another without a conversion.
//!
//! ```
//! use std::time::Duration;
//! use sterna_types::UnixMillis;
//!
//! let start: UnixMillis = "2026-07-28T02:00:00+02:00".parse()?;
//! assert_eq!(start.get(), 1_785_196_800_000);
//! let end = start + Duration::from_millis(90_250);
//! assert_eq!(end.to_string(), "2026-07-28T00:01:30.250Z");
//! # Ok::<(), sterna_types::ParseTimeError>(())
//! ```
//!
//! The crate has no dependencies, reads no clock and draws no random bytes.

mod id;
mod principal;
mod time;

pub use id::{BlobId, FlowId};
pub use principal::Principal;
pub use time::{ParseTimeError, UnixMillis};
