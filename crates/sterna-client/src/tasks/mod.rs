//! Calls that go on as tasks: after the extension `io.modelcontextprotocol/tasks`,
//! in sessions of 2025-11-25, and as SEP-2322 first proposed them.

mod dialect;
mod extension;
mod follow;
mod handle;
mod legacy;
mod questions;
mod watcher;

pub(crate) use dialect::{TaskDialect, undeclare, wanted};
pub(crate) use follow::follow;
pub use handle::TaskHandle;
pub(crate) use legacy::{task_started, translated};
