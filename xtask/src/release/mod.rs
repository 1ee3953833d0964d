//! A release: the shipped crates as their users get them, and what is published
//! beside them.

mod artifacts;
mod checklist;
mod crates;
mod sbom;

pub(crate) use artifacts::build as artifacts;
pub(crate) use checklist::run;
pub(crate) use crates::{features, metadata, oldest_compiler, packages, shipped};
