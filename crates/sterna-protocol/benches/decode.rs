//! Benchmark: decoding a `tools/call` of about 500 bytes.
//!
//! `one_pass` must stay below 1.3 times `flat_struct`, the simplest decoding
//! that `serde_json` offers. The others are for comparison.

use divan::{Bencher, Divan, black_box};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::Message;
use sterna_protocol::methods::{ClientNotification, ClientRequest};

fn main() {
    // Both decoders must keep the same members.
    let flat: Flat = serde_json::from_slice(CALL).expect("it is written for this");
    let kept = serde_json::to_string(&flat).expect("it has string keys only");
    assert_eq!(kept.as_bytes(), CALL);
    assert!(matches!(FromClient::decode(CALL), Ok(Message::Request(_))));

    // Samples must be long compared with the resolution of the clock.
    Divan::from_args().sample_size(200).sample_count(500).main();
}

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"ExampleClient","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{}},"progressToken":"a1b2"},"name":"get_weather","arguments":{"location":"Seattle, WA","units":"metric","days":5,"detail":{"hourly":true,"wind":false},"tags":["a","b","c"],"note":"Bring an umbrella"}}}"#;

#[divan::bench]
fn flat_struct(bencher: Bencher<'_, '_>) {
    bencher.bench(|| serde_json::from_slice::<Flat>(black_box(CALL)));
}

#[divan::bench]
fn one_pass(bencher: Bencher<'_, '_>) {
    bencher.bench(|| FromClient::decode(black_box(CALL)));
}

#[divan::bench]
fn raw_envelope(bencher: Bencher<'_, '_>) {
    bencher.bench(|| Message::raw(black_box(CALL)));
}

#[divan::bench]
fn value(bencher: Bencher<'_, '_>) {
    bencher.bench(|| serde_json::from_slice::<Value>(black_box(CALL)));
}

/// Message as a server decodes it.
type FromClient<'a> = Message<'a, ClientRequest, ClientNotification, IgnoredAny>;

/// Struct for this one `tools/call` only, without unknown members or other
/// methods.
#[derive(Serialize, Deserialize)]
struct Flat {
    jsonrpc: String,
    id: i64,
    method: String,
    params: Params,
}

#[derive(Serialize, Deserialize)]
struct Params {
    #[serde(rename = "_meta")]
    meta: Meta,
    name: String,
    arguments: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: String,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<Implementation>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    client_capabilities: Capabilities,
    #[serde(rename = "progressToken")]
    progress_token: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Implementation {
    name: String,
    version: String,
}

#[derive(Serialize, Deserialize)]
struct Capabilities {
    elicitation: Option<Elicitation>,
    sampling: Option<Empty>,
}

#[derive(Serialize, Deserialize)]
struct Elicitation {
    form: Option<Empty>,
    url: Option<Empty>,
}

#[derive(Serialize, Deserialize)]
struct Empty {}
