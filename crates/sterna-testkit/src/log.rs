//! Log lines of the server during a run, for the transcript: the peer is never
//! told why it was refused, and the author of a test wants to know.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber, dispatcher};

use crate::notes::{Notes, Who};

/// A subscriber that notes what the server says, and hands every event on to
/// the one that was there before.
pub(crate) fn noting(notes: &Notes) -> Dispatch {
    Dispatch::new(Log {
        notes: notes.clone(),
        before: dispatcher::get_default(Dispatch::clone),
    })
}

struct Log {
    notes: Notes,
    before: Dispatch,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && (is_ours(metadata) || self.before.enabled(metadata))
    }

    fn event(&self, event: &Event<'_>) {
        if is_ours(event.metadata()) {
            let mut text = Text::default();
            event.record(&mut text);
            self.notes.take(Who::Log, text.message + &text.fields);
        }
        if self.before.enabled(event.metadata()) {
            self.before.event(event);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    let rooms = [
        "sterna::axum",
        "sterna::rounds",
        "sterna::server",
        "sterna::tasks",
    ];
    *metadata.level() <= Level::INFO && rooms.contains(&metadata.target())
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, ", {name} {value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value}"),
            name => write!(self.fields, ", {name} `{value}`"),
        };
    }
}
