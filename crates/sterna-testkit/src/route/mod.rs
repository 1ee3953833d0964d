//! Tests of HTTP routes that ask (`sterna-axum`).

mod flow;
mod run;

mod stage;

mod play;

mod check;

pub use check::RouteChecked;
pub use flow::RouteFlow;
pub use run::{RouteQuestion, RouteRun};
