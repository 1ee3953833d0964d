//! Log lines of a test.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

/// The events of this thread, a line each.
#[derive(Clone, Default)]
pub(crate) struct Logged(Arc<Mutex<Vec<String>>>);

impl Logged {
    /// Listens until the guard is dropped.
    pub(crate) fn start() -> (Self, DefaultGuard) {
        let logged = Self::default();
        let subscriber = tracing_subscriber::registry().with(logged.clone());
        (logged, tracing::subscriber::set_default(subscriber))
    }

    /// The lines of this crate that hold `text`.
    pub(crate) fn lines(&self, text: &str) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        let these = lines.iter().filter(|line| line.contains(text));
        these.cloned().collect()
    }
}

impl<S: tracing::Subscriber> Layer<S> for Logged {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target().starts_with("sterna_client") {
            let mut line = Line(event.metadata().level().to_string());
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}
