//! Server-sent events (SSE): decoding and encoding.

mod read;
mod write;

pub use read::{Event, EventReader, EventTooLong};
pub use write::{Frame, NotOneLine, write_keep_alive};
