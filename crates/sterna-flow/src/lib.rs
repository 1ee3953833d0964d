//! Straight-line async handlers that can be forgotten between two questions.

mod cx;
mod diagnostic;
mod driver;
mod engine;
mod error;
mod fingerprint;
mod flow_id;
mod handler;
mod journal;
mod key;
mod plugs;
mod random;
mod run;
mod shared;
mod time;

#[cfg(test)]
mod tests;

pub use cx::{
    Again, Arms, Ask, AskWithin, Body, Cancelled, Checkpoint, Cx, Elapsed, JoinAll, Keyed,
    KeyedAgain, Memo, Now, Once, Opaque, Pin, Plain, Question, Race, Rejected, Retry, Sleep,
    Standing, Step, StepError, StepErrorKind,
};
pub use diagnostic::Diagnostic;
pub use driver::{Changes, Driver, OpenQuestion, Outcome, Remote, Suspended};
pub use engine::{Engine, Settings};
pub use error::{Error, PlugAction};
pub use fingerprint::{Digest, Fingerprint};
pub use flow_id::{FlowId, IdempotencyKey};
pub use handler::Handler;
pub use journal::{Asked, DecodeError, Entry, Journal, Kind, Limits};
pub use key::Key;
pub use plugs::{
    Blobs, BoxFuture, Claim, Journaling, Ledger, Level, Listener, PlugError, Progress,
};
pub use random::{Random, Uuid};
pub use run::{Build, Run, Way};
pub use shared::Changed;
pub use time::UnixMillis;
