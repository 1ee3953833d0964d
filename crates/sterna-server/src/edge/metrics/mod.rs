//! Numbers for operators, in the text format of Prometheus.

mod histogram;
mod registry;

pub use histogram::Histogram;
pub use registry::{Counter, Gauge, Registry};
