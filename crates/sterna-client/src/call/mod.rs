//! Calls that may take several rounds: tools, prompts and resources.

mod arguments;
mod budget;
mod build;
mod cancel;
mod flow;
mod hearing;
mod paused;
mod reply;
mod resume;
mod run;
mod subject;
mod terms;
mod v1;

pub(crate) use budget::Pacing;
pub use build::Call;
pub use cancel::CancelHandle;
pub(crate) use hearing::{Hearing, Listeners, LogSink};
pub use paused::{PausedCall, Step};
pub use reply::Reply;
pub use resume::Resume;
pub(crate) use run::answer;
pub(crate) use subject::Subject;
