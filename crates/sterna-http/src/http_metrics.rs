//! Metrics of the HTTP server.

use std::time::Duration;

use http::StatusCode;

use super::metrics::{Counter, Gauge, Histogram, Registry};
use super::refusal::Refusal;

#[derive(Debug)]
pub(super) struct HttpMetrics {
    registry: Registry,
    /// By the first digit of the status, from 1 to 5.
    answers: [Counter; 5],
    took: Histogram,
    calls: Gauge,
    listeners: Gauge,
    connections: Gauge,
    held: Gauge,
    cut: Counter,
}

impl HttpMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let answers = |class| {
            registry.counter(
                "sterna_http_responses_total",
                "Answers by the class of their status.",
                &[("class", class)],
            )
        };
        Self {
            answers: ["1xx", "2xx", "3xx", "4xx", "5xx"].map(answers),
            took: registry.histogram(
                "sterna_http_response_seconds",
                "Time from the head of a request to the head of its answer.",
                &[],
            ),
            calls: registry.gauge("sterna_http_calls", "Calls running.", &[]),
            listeners: registry.gauge("sterna_http_listeners", "Open subscription streams.", &[]),
            connections: registry.gauge("sterna_http_connections", "Open connections.", &[]),
            held: registry.gauge(
                "sterna_http_held_bytes",
                "Bytes held for peers, of `limits.buffered_bytes`.",
                &[],
            ),
            cut: registry.counter(
                "sterna_http_connections_cut_total",
                "Connections cut because the peer held them up.",
                &[],
            ),
            registry: registry.clone(),
        }
    }

    pub(super) fn answered(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, self.answers.len());
        self.answers[class - 1].add(1);
        self.took.observe(took);
    }

    pub(super) fn refused(&self, refusal: &Refusal) {
        let reason = refusal.reason();
        tracing::debug!(target: "sterna::http", reason, "request refused");
        let help = "Requests that were refused, by reason.";
        self.registry
            .counter("sterna_http_refused_total", help, &[("reason", reason)])
            .add(1);
    }

    pub(super) fn connected(&self, connections: usize) {
        self.connections.set(connections as u64);
    }

    pub(super) fn cut(&self, why: &'static str) {
        tracing::debug!(target: "sterna::http", why, "connection cut");
        self.cut.add(1);
    }

    pub(super) fn holding(&self, bytes: usize) {
        self.held.set(bytes as u64);
    }

    pub(super) fn running(&self, calls: usize, listeners: usize) {
        self.calls.set(calls as u64);
        self.listeners.set(listeners as u64);
    }
}
