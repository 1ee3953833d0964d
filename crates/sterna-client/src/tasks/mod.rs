//! Calls that go on as tasks, after the extension
//! `io.modelcontextprotocol/tasks`.

mod follow;
mod handle;

pub(crate) use follow::follow;
pub use handle::TaskHandle;
