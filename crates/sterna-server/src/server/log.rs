//! The log of a server whose program has no `tracing` subscriber of its own.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::Write as _;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes events to standard error, unless the program has a subscriber.
pub(super) fn to_stderr() {
    // The program's own subscriber was there first and stays.
    let _ = tracing::subscriber::set_global_default(Log(write));
}

/// Writes one line to standard error, which may be closed.
pub(super) fn write(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A subscriber that hands each event of level `INFO` or above to a function,
/// as one line. It has no spans, so they cost nothing.
struct Log<W>(W);

impl<W: Fn(&str) + 'static> Subscriber for Log<W> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= LEVEL
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LEVEL)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = LogLine::default();
        event.record(&mut line);
        let metadata = event.metadata();
        let (level, target) = (metadata.level(), metadata.target());
        let text = format!("{level} {target}: {}{}", line.message, line.fields);
        (self.0)(&visible(&text));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Text of an event.
#[derive(Default)]
struct LogLine {
    message: String,
    fields: String,
}

impl LogLine {
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => self.message.write_fmt(value),
            name => write!(self.fields, " {name}={value}"),
        };
    }
}

impl Visit for LogLine {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field, format_args!("{value}"));
        let mut cause = value.source();
        while let Some(error) = cause {
            let _ = write!(self.fields, ": {error}");
            cause = error.source();
        }
    }
}

/// The text as one line in which nothing is left that a terminal obeys.
fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            control if control.is_control() => line.extend(control.escape_debug()),
            other => line.push(other),
        }
    }
    line
}

/// Warnings, errors and the few notes that an operator acts on.
const LEVEL: LevelFilter = LevelFilter::INFO;

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use expect_test::expect;

    use super::*;

    #[test]
    fn an_event_is_one_line_without_controls_and_spans_are_left_out() {
        let lines = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&lines);
        let log = Log(move |line: &str| {
            let mut lines = kept.lock().unwrap();
            lines.push_str(line);
            lines.push('\n');
        });
        tracing::subscriber::with_default(log, || {
            let span = tracing::error_span!("mcp", secret = "no");
            let _entered = span.enter();
            tracing::error!(target: "sterna::rounds", name = "deploy", tries = 3, "MR0100: it {}", "broke");
            tracing::info!(target: "app", "two\nlines \x1b[31mred\u{9b}");
            tracing::debug!(target: "app", "too much");
            let error = sterna_http::ServeError::from(io::Error::other("in use"));
            let error: &dyn Error = &error;
            tracing::warn!(target: "sterna::keys", error, "failed");
        });
        expect![[r"
            ERROR sterna::rounds: MR0100: it broke name=deploy tries=3
            INFO app: two\nlines \u{1b}[31mred\u{9b}
            WARN sterna::keys: failed error=the server could not listen: in use
        "]]
        .assert_eq(&lines.lock().unwrap());
    }
}
