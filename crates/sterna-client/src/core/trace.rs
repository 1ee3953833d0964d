//! The trace that a call belongs to.

use sterna_protocol::json::JsonObject;
use sterna_protocol::meta::{is_baggage, is_tracestate, trace_id};

/// What the caller says about the trace, as far as W3C would read it.
#[derive(Debug, PartialEq)]
pub(super) struct Trace {
    pub(super) parent: Option<String>,
    pub(super) state: Option<String>,
    pub(super) baggage: Option<String>,
}

impl Trace {
    /// Takes the three keys out of `meta`. What is malformed is dropped
    /// (BASE-B24), and so is a state that belongs to no parent.
    pub(super) fn take(meta: &mut JsonObject) -> Self {
        let parent = one(meta, "traceparent", |parent| trace_id(parent).is_some());
        let state = one(meta, "tracestate", |state| {
            parent.is_some() && is_tracestate(state)
        });
        let baggage = one(meta, "baggage", is_baggage);
        Self {
            parent,
            state,
            baggage,
        }
    }
}

fn one(meta: &mut JsonObject, key: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let text: Option<String> = meta.remove(key)?.decode().ok();
    let fitting = text.filter(|text| fits(text));
    if fitting.is_none() {
        tracing::debug!(key, "left out of `_meta`: not what W3C says it is");
    }
    fitting
}
