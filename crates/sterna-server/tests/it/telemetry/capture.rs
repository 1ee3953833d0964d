//! A subscriber that writes everything down.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

/// All spans and events of a thread, at every level.
#[derive(Clone, Default)]
pub(crate) struct Capture(Arc<State>);

#[derive(Default)]
struct State {
    next: AtomicU64,
    /// Ids are given again when a span is closed; these are the numbers in `spans`.
    open: Mutex<BTreeMap<u64, u64>>,
    spans: Mutex<BTreeMap<u64, Fields>>,
    events: Mutex<Vec<Fields>>,
}

/// The fields of a span or an event, and where it comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    pub(crate) target: String,
    pub(crate) values: BTreeMap<String, String>,
}

impl Fields {
    fn of(metadata: &Metadata<'_>) -> Self {
        Self {
            target: metadata.target().to_owned(),
            values: BTreeMap::new(),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

impl Capture {
    /// Captures until the guard is dropped.
    pub(crate) fn start() -> (Self, tracing::subscriber::DefaultGuard) {
        let capture = Self::default();
        let guard =
            tracing::subscriber::set_default(tracing_subscriber::registry().with(capture.clone()));
        (capture, guard)
    }

    /// The spans of requests, in order.
    pub(crate) fn operations(&self) -> Vec<Fields> {
        self.spans("sterna::mcp")
    }

    /// The spans of a target, in order.
    pub(crate) fn spans(&self, target: &str) -> Vec<Fields> {
        let spans = self.0.spans.lock().unwrap();
        let ours = spans.values().filter(|span| span.target == target);
        ours.cloned().collect()
    }

    pub(crate) fn events(&self) -> Vec<Fields> {
        self.0.events.lock().unwrap().clone()
    }

    /// Everything that was said, as one text.
    pub(crate) fn text(&self) -> String {
        let spans = self.0.spans.lock().unwrap();
        format!("{:?}\n{:?}", spans.values(), self.events())
    }
}

impl<S: Subscriber> Layer<S> for Capture {
    fn on_new_span(&self, span: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let mut fields = Fields::of(span.metadata());
        span.record(&mut fields);
        let at = self.0.next.fetch_add(1, Ordering::SeqCst);
        self.0.open.lock().unwrap().insert(id.into_u64(), at);
        self.0.spans.lock().unwrap().insert(at, fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let at = self.0.open.lock().unwrap()[&id.into_u64()];
        if let Some(fields) = self.0.spans.lock().unwrap().get_mut(&at) {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::of(event.metadata());
        event.record(&mut fields);
        self.0.events.lock().unwrap().push(fields);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.values
            .insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.values
            .insert(field.name().to_owned(), value.to_owned());
    }
}
