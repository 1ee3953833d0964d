use std::fmt;

/// Reason why a paused call of an older server needs its connection, and with it
/// this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeldReason {
    /// The server sent no event id before its question, or none with it, so its
    /// stream cannot be resumed.
    NoEventId,
    /// The server asked outside of the stream of the call.
    OutsideCall,
    /// The server is at the other end of a pipe.
    Pipe,
    /// The caller wants the connection to stay open:
    /// [`CallOptions::hold`](crate::CallOptions::hold).
    Requested,
}

impl fmt::Display for HeldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoEventId => {
                "the server sends no event ids with its questions, so that only this connection \
                 can receive the result; an event store at the server changes that"
            }
            Self::OutsideCall => {
                "the server asks outside of the stream of the call, so that only this connection \
                 can receive the result; a question that names its call (`relatedRequestId`) \
                 changes that"
            }
            Self::Pipe => {
                "the server is connected by a pipe, so that only this process can receive the \
                 result; a server of 2026-07-28, or one that is reached over HTTP and keeps an \
                 event store, changes that"
            }
            Self::Requested => "the caller asked for the connection to be held",
        })
    }
}
