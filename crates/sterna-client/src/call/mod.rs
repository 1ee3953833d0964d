//! Calls that may take several rounds: tools, prompts and resources.

mod arguments;
mod budget;
mod build;
mod options;
mod paused;
mod resume;
mod round;
mod runner;
mod session_resume;
mod state;
mod target;
mod v1;

pub use build::Call;
pub use options::{CallOptions, CancelHandle};
pub use paused::{PausedCall, Step};
pub use resume::Resume;
pub(crate) use target::CallTarget;
pub use target::Reply;
