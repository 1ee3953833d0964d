//! Properties of all messages, tested on generated values.

mod hostile;
mod round_trip;
mod source;
mod types;
mod unions;

pub(crate) use source::{Sample, Source};
