//! Span and duration of a request.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use sterna_http::{Admission, Histogram, clock};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::version::ProtocolVersion;
use tracing::{Instrument, Level, Span, field};

use crate::core::Core;

/// A request from its admission to its answer: a span, and a duration.
///
/// Without a subscriber the span is nothing, and no field is worked out.
pub(crate) struct RequestSpan {
    core: Arc<Core>,
    method: Cow<'static, str>,
    /// Target of the request, kept only if the span is enabled.
    target: Option<String>,
    duration: Option<Histogram>,
    span: Span,
    start: Instant,
    ended: bool,
}

/// End of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestEnd {
    Done,
    /// With an error of this code.
    Failed(i64),
    /// With a result that says the tool failed.
    ToolError,
}

impl RequestSpan {
    pub(crate) fn begin(
        core: &Arc<Core>,
        admission: &Admission,
        method: impl Into<Cow<'static, str>>,
        target: Option<&str>,
        id: &RequestId,
        version: &ProtocolVersion,
    ) -> Self {
        let method = method.into();
        let span = tracing::info_span!(
            target: "sterna::mcp",
            "mcp.server",
            otel.name = field::Empty,
            otel.kind = "server",
            otel.status_code = field::Empty,
            mcp.method.name = &*method,
            mcp.protocol.version = version.as_str(),
            mcp.resource.uri = field::Empty,
            jsonrpc.request.id = %Cut(id),
            gen_ai.operation.name = field::Empty,
            gen_ai.tool.name = field::Empty,
            gen_ai.prompt.name = field::Empty,
            network.transport = admission.transport(),
            error.type = field::Empty,
            rpc.response.status_code = field::Empty,
            sterna.flow.id = field::Empty,
            sterna.round = field::Empty,
            sterna.outcome = field::Empty,
            sterna.state.bytes = field::Empty,
            sterna.state.refused = field::Empty,
            sterna.trace.id = field::Empty,
        );
        let mut shown = None;
        if !span.is_disabled() {
            shown = target.and_then(|name| core.offers.shown(&method, name));
            name(&span, &method, shown);
        }
        Self {
            core: Arc::clone(core),
            target: shown.map(str::to_owned),
            duration: core.metrics.duration(&method, target).cloned(),
            method,
            span,
            start: clock::now(),
            ended: false,
        }
    }

    /// Runs a call inside the span, and ends with it; a call without an end was
    /// taken back.
    pub(crate) async fn instrument<A>(
        &mut self,
        call: impl Future<Output = (A, Option<RequestEnd>)>,
    ) -> A {
        let (answer, ended) = call.instrument(self.span.clone()).await;
        if let Some(ended) = ended {
            self.end(ended);
        }
        answer
    }

    /// Ends with an answer that is there already.
    pub(crate) fn end(&mut self, ended: RequestEnd) {
        self.ended = true;
        let took = clock::now().saturating_duration_since(self.start);
        let code;
        let error = match ended {
            RequestEnd::Done => None,
            RequestEnd::ToolError => Some("tool_error"),
            RequestEnd::Failed(number) => {
                code = number.to_string();
                self.span.record("rpc.response.status_code", &*code);
                Some(code.as_str())
            }
        };
        match error {
            None => {
                if let Some(duration) = &self.duration {
                    duration.observe(took);
                }
            }
            Some(error) => self.core.metrics.failed(&self.method, error).observe(took),
        }
        self.tell(took.as_secs_f64(), error);
    }

    /// Says how long it took, in the way the metrics layer of
    /// `tracing-opentelemetry` reads.
    fn tell(&self, seconds: f64, error: Option<&str>) {
        if let Some(error) = error {
            self.span.record("error.type", error);
            self.span.record("otel.status_code", "ERROR");
        }
        tracing::event!(
            target: "sterna::mcp",
            parent: &self.span,
            Level::DEBUG,
            histogram.mcp.server.operation.duration = seconds,
            mcp.method.name = &*self.method,
            gen_ai.tool.name = self.target.as_deref().filter(|_| self.method == "tools/call"),
            gen_ai.prompt.name = self.target.as_deref().filter(|_| self.method == "prompts/get"),
            error.type = error,
        );
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        if !self.ended {
            // CANCEL-S3: the client closed the stream, which is how it cancels, or said so.
            self.span.record("sterna.outcome", "cancelled");
            let took = clock::now().saturating_duration_since(self.start);
            let numbers = &self.core.metrics;
            numbers.failed(&self.method, "cancelled").observe(took);
            self.tell(took.as_secs_f64(), Some("cancelled"));
        }
    }
}

/// Gives a span the name and the attributes of what it is about.
fn name(span: &Span, method: &str, target: Option<&str>) {
    let Some(target) = target else {
        span.record("otel.name", method);
        return;
    };
    let attribute = match method {
        "tools/call" => {
            span.record("gen_ai.operation.name", "execute_tool");
            "gen_ai.tool.name"
        }
        "prompts/get" => "gen_ai.prompt.name",
        // A URI is no good name for a span: there are too many of them.
        _ => {
            span.record("otel.name", method);
            span.record("mcp.resource.uri", target);
            return;
        }
    };
    span.record(
        "otel.name",
        field::display(format_args!("{method} {target}")),
    );
    span.record(attribute, target);
}

/// An id that a peer chose, short and without anything a terminal obeys.
struct Cut<'a>(&'a RequestId);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RequestId::Integer(number) => number.fmt(f),
            RequestId::String(text) => {
                let start: String = text.chars().take(64).collect();
                start.escape_debug().fmt(f)
            }
        }
    }
}
