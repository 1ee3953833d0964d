//! What operators see, and what they must not see.

pub(crate) mod capture;
mod numbers;
mod secrets;
mod sessions;
mod spans;
mod tasks;
