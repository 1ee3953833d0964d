//! Metrics of the servers behind a gateway. Each server is a label, so there are
//! as many series as the configuration has servers.

use std::time::Duration;

use sterna_server::http::{Gauge, Registry};

/// Metrics of a gateway. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatewayMetrics {
    pub(crate) registry: Registry,
}

impl GatewayMetrics {
    /// Counts a round of a call at `server`.
    pub(crate) fn round(&self, server: &str, outcome: &'static str, took: Duration) {
        let labels = [("server", server), ("outcome", outcome)];
        let rounds = "Rounds of calls, by server and outcome.";
        self.registry
            .counter("sterna_gateway_rounds_total", rounds, &labels)
            .add(1);
        let seconds = "Seconds that a round of a call took, by server.";
        self.registry
            .histogram(
                "sterna_gateway_round_seconds",
                seconds,
                &[("server", server)],
            )
            .observe(took);
    }

    /// Gauge that is 1 while `server` can be reached, and 0 while it cannot.
    pub(crate) fn up(&self, server: &str) -> Gauge {
        let up = "1 while the server can be reached, 0 while it cannot.";
        self.registry
            .gauge("sterna_gateway_server_up", up, &[("server", server)])
    }

    /// Gauge of the open sessions with `server`.
    pub(crate) fn sessions(&self, server: &str) -> Gauge {
        let sessions = "Open sessions with the server, or processes of it.";
        self.registry
            .gauge("sterna_gateway_sessions", sessions, &[("server", server)])
    }

    /// Gauge of the calls that are held.
    pub(crate) fn held(&self) -> Gauge {
        let held = "Calls that are held while their callers answer.";
        self.registry.gauge("sterna_gateway_held_calls", held, &[])
    }
}
