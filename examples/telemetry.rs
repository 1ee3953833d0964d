//! What OpenTelemetry sees of a server: a span for every request and the
//! duration of every operation, by the names of its conventions. A hook puts
//! all rounds of a flow into one trace, whichever instance served them.
//!
//! ```text
//! $ cargo run --bin telemetry
//! client: greet {}
//! server: name? "What is your name?"
//! client: {"name":{"name":"Ada"}}
//! server: "Hello, Ada!"
//! span tools/call greet: mcp.method.name tools/call, gen_ai.tool.name greet, sterna.outcome asked
//! span tools/call greet: mcp.method.name tools/call, gen_ai.tool.name greet, sterna.outcome finished
//! traces: 1
//! mcp.server.operation.duration of tools/call greet: 2
//! ```
//!
//! Here both are kept in memory; a program has an OTLP exporter in their place.

use std::collections::HashSet;

use examples::{Conversation, keys, say};
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::json;
use sterna_server::{AskError, Cx, Middleware, RequestError, RoundInfo, Server};
use tracing_opentelemetry::{MetricsLayer, OpenTelemetrySpanExt as _};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "What is your name?").await?;
    Ok(format!("Hello, {name}!"))
}

/// Puts every round into the trace of its flow, which the state brought along.
struct OneTrace;

impl Middleware for OneTrace {
    fn before(&self, round: &RoundInfo<'_>) -> Result<(), RequestError> {
        let trace = round.request().trace();
        let parent = trace.traceparent().and_then(|parent| parent.get(36..52));
        // A parent that nobody exports, unless the client named its own.
        let parent = parent.and_then(|id| SpanId::from_hex(id).ok());
        let parent = parent.unwrap_or_else(|| SpanId::from(1));
        if let Ok(id) = TraceId::from_hex(&trace.id()) {
            let state = TraceState::default();
            let parent = SpanContext::new(id, parent, TraceFlags::SAMPLED, true, state);
            let parent = Context::new().with_remote_span_context(parent);
            // A span that has begun already stays where it is.
            let _ = tracing::Span::current().set_parent(parent);
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let (spans, metrics) = (
        InMemorySpanExporter::default(),
        InMemoryMetricExporter::default(),
    );
    let tracing = SdkTracerProvider::builder()
        .with_simple_exporter(spans.clone())
        .build();
    let reader = PeriodicReader::builder(metrics.clone()).build();
    let metering = SdkMeterProvider::builder().with_reader(reader).build();
    let layer = tracing_opentelemetry::layer().with_tracer(tracing.tracer("greeter"));
    // Else a span would begin before its flow is known.
    let layer = layer.with_context_activation(false);
    let subscribed = tracing_subscriber::registry()
        .with(layer)
        .with(MetricsLayer::new(metering.clone()))
        .set_default();

    let server = Server::new("greeter", env!("CARGO_PKG_VERSION"))
        .tool("greet", "Greets whoever is there", greet)
        .middleware(OneTrace)
        .keys(keys()?)
        .anonymous();
    let server = server.build()?.into_tower()?;
    let mut call = Conversation::begin("greet", json!({}))?;
    call.round(&server).await?;
    call.answer(json!({"name": {"name": "Ada"}}))?;
    call.round(&server).await?;

    drop(subscribed);
    let spans = spans.get_finished_spans()?;
    for span in &spans {
        let shown = ["mcp.method.name", "gen_ai.tool.name", "sterna.outcome"];
        let shown = shown.map(|name| format!("{name} {}", find(&span.attributes, name)));
        say(format_args!("span {}: {}", span.name, shown.join(", ")))?;
    }
    let traces = spans.iter().map(|span| span.span_context.trace_id());
    let traces: HashSet<_> = traces.collect();
    say(format_args!("traces: {}", traces.len()))?;
    metering.force_flush()?;
    let metrics = metrics.get_finished_metrics()?;
    let scopes = metrics.iter().flat_map(|one| one.scope_metrics());
    for metric in scopes.flat_map(|scope| scope.metrics()) {
        show(metric.name(), metric.data())?;
    }
    Ok(())
}

fn show(name: &str, data: &AggregatedMetrics) -> anyhow::Result<()> {
    let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = data else {
        return Ok(());
    };
    for point in histogram.data_points() {
        let attributes: Vec<_> = point.attributes().cloned().collect();
        let method = find(&attributes, "mcp.method.name");
        let tool = find(&attributes, "gen_ai.tool.name");
        say(format_args!("{name} of {method} {tool}: {}", point.count()))?;
    }
    Ok(())
}

fn find(attributes: &[KeyValue], name: &str) -> String {
    let mut attributes = attributes.iter();
    let found = attributes.find(|one| one.key.as_str() == name);
    found.map_or_else(String::new, |one| one.value.to_string())
}
