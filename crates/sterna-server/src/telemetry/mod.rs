//! Metrics and trace names, for operators.
//!
//! Names are those of the OpenTelemetry conventions for MCP; what they do not
//! know (rounds, flows, states) begins with `sterna.`. No argument, no answer,
//! no state and no token is ever in one of them: names come from the server's
//! own lists, and text of a peer is cut and escaped.

mod metrics;
mod trace;

pub(crate) use metrics::{McpMetrics, MetricNames};
pub use trace::TraceContext;
pub(crate) use trace::flow_name;
