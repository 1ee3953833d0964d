//! What it costs to read a `tools/call` of about 500 bytes.
//!
//! `one_pass` has to stay below 1.3 times `flat_struct`, which is the plainest
//! thing that `serde_json` can do. The others are there to compare.

use std::convert::Infallible;

use divan::{Bencher, Divan, black_box};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::{Map, Value};
use sterna_protocol::jsonrpc::{DecodeError, Dispatch, Message};

fn main() {
    // Long enough samples that the clock's own step does not show.
    Divan::from_args().sample_size(200).sample_count(500).main();
}

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"ExampleClient","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{}},"progressToken":"a1b2"},"name":"get_weather","arguments":{"location":"Seattle, WA","units":"metric","days":5,"detail":{"hourly":true,"wind":false},"tags":["a","b","c"],"note":"Bring an umbrella"}}}"#;

#[divan::bench]
fn flat_struct(bencher: Bencher<'_, '_>) {
    bencher.bench(|| serde_json::from_slice::<Flat>(black_box(CALL)));
}

#[divan::bench]
fn one_pass(bencher: Bencher<'_, '_>) {
    bencher.bench(|| decode(black_box(CALL)));
}

#[divan::bench]
fn raw_envelope(bencher: Bencher<'_, '_>) {
    bencher.bench(|| Message::raw(black_box(CALL)));
}

#[divan::bench]
fn value(bencher: Bencher<'_, '_>) {
    bencher.bench(|| serde_json::from_slice::<Value>(black_box(CALL)));
}

fn decode(bytes: &[u8]) -> Result<Message<'_, Call, Infallible, IgnoredAny>, DecodeError> {
    Message::decode(bytes)
}

/// What somebody would write who knew that only `tools/call` ever comes.
#[derive(Deserialize)]
#[expect(dead_code, reason = "nothing but decoded")]
struct Flat {
    jsonrpc: String,
    id: i64,
    method: String,
    params: Params,
}

/// The requests of a small server.
#[expect(dead_code, reason = "nothing but decoded")]
enum Call {
    List,
    Tool(Box<Params>),
}

#[derive(Clone, Copy)]
enum Tag {
    List,
    Tool,
}

impl<'de> Dispatch<'de> for Call {
    type Tag = Tag;

    fn find(name: &str) -> Option<Tag> {
        match name {
            "tools/call" => Some(Tag::Tool),
            "tools/list" => Some(Tag::List),
            _ => None,
        }
    }

    fn decode<D: Deserializer<'de>>(tag: Tag, params: D) -> Result<Self, D::Error> {
        match tag {
            Tag::List => IgnoredAny::deserialize(params).map(|_| Self::List),
            Tag::Tool => Box::deserialize(params).map(Self::Tool),
        }
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "nothing but decoded")]
struct Params {
    #[serde(rename = "_meta")]
    meta: Meta,
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "nothing but decoded")]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: String,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<Implementation>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    client_capabilities: Map<String, Value>,
    #[serde(rename = "progressToken")]
    progress_token: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "nothing but decoded")]
struct Implementation {
    name: String,
    version: String,
}
