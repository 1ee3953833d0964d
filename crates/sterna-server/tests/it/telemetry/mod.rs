//! What operators see, and what they must not see.

mod around;
mod capture;
mod numbers;
mod secrets;
mod spans;
