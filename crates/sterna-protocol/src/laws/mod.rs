//! Laws that hold for every message, checked on made-up ones.

mod hostile;
mod round_trip;
mod source;
mod types;
mod unions;

pub(crate) use source::{Sample, Source};
