//! What OpenTelemetry sees of a server: a span for every request and the
//! duration of every operation, by the names of its conventions. Nothing in the
//! server is switched on; the program's subscriber has two layers.
//!
//! ```text
//! $ cargo run --bin telemetry
//! client: greet {}
//! server: name? "What is your name?"
//! client: {"name":{"name":"Ada"}}
//! server: "Hello, Ada!"
//! span tools/call greet, outcome asked
//! span tools/call greet, outcome finished
//! mcp.server.operation.duration of tools/call greet: 2
//! ```
//!
//! Here both are kept in memory; a program has an OTLP exporter in their place.

use anyhow::Context as _;
use examples::{Conversation, keys, say};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::json;
use sterna_server::{Cx, Refused, Server};
use tracing_opentelemetry::MetricsLayer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    let name: String = cx.ask("name", "What is your name?").await?;
    Ok(format!("Hello, {name}!"))
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
    let subscribed = tracing_subscriber::registry()
        .with(tracing_opentelemetry::layer().with_tracer(tracing.tracer("greeter")))
        .with(MetricsLayer::new(metering.clone()))
        .set_default();

    let server = Server::new("greeter", env!("CARGO_PKG_VERSION"))
        .tool("greet", "Greets whoever is there", greet)
        .keys(keys()?);
    let server = server.build()?.into_tower()?;
    let mut call = Conversation::begin("greet", json!({}))?;
    call.round(&server).await?;
    call.answer(json!({"name": {"name": "Ada"}}))?;
    call.round(&server).await?;

    drop(subscribed);
    for span in spans.get_finished_spans()? {
        let outcome = find(&span.attributes, "sterna.outcome").context("an outcome")?;
        say(format_args!("span {}, outcome {outcome}", span.name))?;
    }
    metering.force_flush()?;
    for resource in metrics.get_finished_metrics()? {
        let scopes = resource.scope_metrics();
        for metric in scopes.flat_map(|scope| scope.metrics()) {
            show(metric.name(), metric.data())?;
        }
    }
    Ok(())
}

fn show(name: &str, data: &AggregatedMetrics) -> anyhow::Result<()> {
    let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = data else {
        return Ok(());
    };
    for point in histogram.data_points() {
        let attributes: Vec<_> = point.attributes().cloned().collect();
        let method = find(&attributes, "mcp.method.name").context("a method")?;
        let tool = find(&attributes, "gen_ai.tool.name").context("a tool")?;
        say(format_args!("{name} of {method} {tool}: {}", point.count()))?;
    }
    Ok(())
}

fn find<'a>(attributes: &'a [KeyValue], name: &str) -> Option<&'a Value> {
    let mut attributes = attributes.iter();
    attributes.find_map(|one| (one.key.as_str() == name).then_some(&one.value))
}
