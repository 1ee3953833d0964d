//! Benchmark: encoding and decoding the result of a `tools/call`.
//!
//! `derived` uses serde's derives for the same types, without unknown members
//! and names.

use divan::{Bencher, Divan, black_box};
use serde::{Deserialize, Serialize};
use sterna_protocol::jsonrpc::{Message, Nothing};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;

fn main() {
    let Ok(Message::Result(response)) = FromServer::decode(RESULT) else {
        unreachable!("it is a result");
    };
    let mut body = Vec::new();
    response.encode(&mut body).expect("it has string keys only");
    assert_eq!(body, RESULT);
    assert_eq!(serde_json::to_vec(&flat()).expect("as above"), RESULT);

    Divan::from_args().sample_size(200).sample_count(500).main();
}

const RESULT: &[u8] = br#"{"jsonrpc":"2.0","id":17,"result":{"resultType":"complete","content":[{"type":"text","text":"High water at 04:12 (1.31 m) and 16:40 (1.28 m)."},{"type":"text","text":"Low water at 10:25 (0.31 m) and 22:51 (0.35 m).","annotations":{"audience":["user"]}}],"structuredContent":{"high":[1.31,1.28],"low":[0.31,0.35]},"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tides","version":"3.1.0"}}}}"#;

#[divan::bench]
fn read(bencher: Bencher<'_, '_>) {
    bencher.bench(|| FromServer::decode(black_box(RESULT)));
}

#[divan::bench]
fn read_derived(bencher: Bencher<'_, '_>) {
    bencher.bench(|| serde_json::from_slice::<Flat>(black_box(RESULT)));
}

#[divan::bench]
fn write(bencher: Bencher<'_, '_>) {
    let Ok(Message::Result(response)) = FromServer::decode(RESULT) else {
        unreachable!("it is a result");
    };
    bencher.bench(|| {
        let mut body = Vec::with_capacity(RESULT.len());
        black_box(&response).encode(&mut body).map(|()| body)
    });
}

#[divan::bench]
fn write_derived(bencher: Bencher<'_, '_>) {
    let flat = flat();
    bencher.bench(|| {
        let mut body = Vec::with_capacity(RESULT.len());
        serde_json::to_writer(&mut body, black_box(&flat)).map(|()| body)
    });
}

type FromServer<'a> = Message<'a, Nothing, Nothing, Outcome<CallToolResult>>;

fn flat() -> Flat {
    serde_json::from_slice(RESULT).expect("it is written for this")
}

#[derive(Serialize, Deserialize)]
struct Flat {
    jsonrpc: String,
    id: i64,
    result: Call,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    result_type: String,
    content: Vec<Block>,
    structured_content: Option<Box<serde_json::value::RawValue>>,
    is_error: Option<bool>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Block {
    Text {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
    Image {
        data: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Annotations {
    audience: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Implementation,
}

#[derive(Serialize, Deserialize)]
struct Implementation {
    name: String,
    version: String,
}
