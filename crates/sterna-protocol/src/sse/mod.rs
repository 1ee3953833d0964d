//! Server-sent events, as bytes that have already arrived or will be sent.

mod read;
mod write;

pub use read::{Event, EventReader, EventTooLong};
pub use write::{Frame, NotOneLine, write_keep_alive};
