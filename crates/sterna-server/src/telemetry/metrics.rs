//! Metrics of the MCP server.

use std::collections::BTreeMap;
use std::fmt;

use sterna_http::{Counter, Histogram, Registry};
use sterna_protocol::methods::ClientMethod;
use sterna_seal::OpenError;

/// Names that have a duration of their own.
pub(crate) struct MetricNames<'a> {
    pub(crate) tools: Vec<&'a str>,
    pub(crate) prompts: Vec<&'a str>,
    /// Methods besides those of the core protocol and of sessions.
    pub(crate) methods: Vec<&'a str>,
}

/// Metrics of a server, made when it is built: counting a plain call looks one
/// up and allocates nothing.
pub(crate) struct McpMetrics {
    registry: Registry,
    tools: BTreeMap<String, Histogram>,
    prompts: BTreeMap<String, Histogram>,
    methods: BTreeMap<String, Histogram>,
    /// Flows that went to their client for the first time.
    pub(crate) started: Counter,
    /// States that came back and were accepted.
    pub(crate) answered: Counter,
    /// Flows that came to an end after they had been at their client.
    pub(crate) finished: Counter,
    /// Rounds that ended with a state, and the size of the states.
    pub(crate) suspended: Counter,
    pub(crate) state_bytes: Counter,
    expired: Counter,
}

impl McpMetrics {
    pub(crate) fn new(registry: &Registry, names: &MetricNames<'_>) -> Self {
        let timed = |labels: &[(&str, &str)]| registry.histogram(DURATION, DURATION_HELP, labels);
        let named = |names: &[&str], method: &'static str, label: &'static str| {
            let names = names.iter().copied();
            let timed = |name| timed(&[("mcp_method_name", method), (label, name)]);
            names.map(|name| (name.to_owned(), timed(name))).collect()
        };
        let methods = ClientMethod::ALL.iter().map(|one| one.as_str());
        let methods = methods
            .chain(SESSION_METHODS)
            .chain(names.methods.iter().copied());
        let counter = |name, help| registry.counter(name, help, &[]);
        Self {
            tools: named(&names.tools, "tools/call", "gen_ai_tool_name"),
            prompts: named(&names.prompts, "prompts/get", "gen_ai_prompt_name"),
            methods: methods
                .filter(|method| !matches!(*method, "tools/call" | "prompts/get"))
                .map(|method| (method.to_owned(), timed(&[("mcp_method_name", method)])))
                .collect(),
            started: counter(
                "sterna_flows_started_total",
                "Flows that went to their client for the first time.",
            ),
            answered: counter(
                "sterna_flows_answered_total",
                "States that clients brought back and that were accepted.",
            ),
            finished: counter(
                "sterna_flows_finished_total",
                "Flows that ended after they had been at their client.",
            ),
            suspended: counter(
                "sterna_rounds_suspended_total",
                "Rounds that ended with a state for the client to carry.",
            ),
            state_bytes: counter(
                "sterna_state_bytes_total",
                "Size of all states given to clients.",
            ),
            expired: counter(
                "sterna_flows_expired_total",
                "Flows abandoned: their state came back when it was too old.",
            ),
            registry: registry.clone(),
        }
    }

    /// The same metrics, for a server with other tools and prompts.
    pub(crate) fn of(&self, names: &MetricNames<'_>) -> Self {
        Self::new(&self.registry, names)
    }

    /// Histogram for the duration of a request that did not fail.
    pub(crate) fn duration(&self, method: &str, target: Option<&str>) -> Option<&Histogram> {
        let by_name = match method {
            "tools/call" => target.and_then(|name| self.tools.get(name)),
            "prompts/get" => target.and_then(|name| self.prompts.get(name)),
            _ => None,
        };
        by_name.or_else(|| self.methods.get(method))
    }

    /// Histogram for the duration of a request that failed.
    pub(crate) fn failed(&self, method: &str, error: &str) -> Histogram {
        let labels = [("error_type", error), ("mcp_method_name", method)];
        self.registry.histogram(DURATION, DURATION_HELP, &labels)
    }

    /// Counts a state that was refused.
    pub(crate) fn refused(&self, reason: &OpenError) {
        if matches!(reason, OpenError::Expired(_) | OpenError::FlowExpired(_)) {
            self.expired.add(1);
        }
        self.registry
            .counter(
                "sterna_states_refused_total",
                "States that were refused, by reason.",
                &[("reason", reason.label())],
            )
            .add(1);
    }
}

impl fmt::Debug for McpMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpMetrics").finish_non_exhaustive()
    }
}

/// Methods that sessions of the older revisions have besides.
const SESSION_METHODS: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// `mcp.server.operation.duration`, spelled as Prometheus wants it.
const DURATION: &str = "mcp_server_operation_duration_seconds";
const DURATION_HELP: &str = "Time from the arrival of a request to its answer.";
