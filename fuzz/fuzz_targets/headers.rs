//! Any text survives a header, and what a client writes a server accepts.
#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use serde_json::{Map, json};
use sterna_protocol::http::{
    ParamHeaders, RequestHeaders, decode_value, encode_value, mirrored_name,
};
use sterna_protocol::json::RawObject;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    text: &'a str,
    value: &'a [u8],
    method: &'a str,
    /// Parameters and the headers that they ask for.
    annotations: Vec<(&'a str, &'a str)>,
    schema: &'a str,
    arguments: &'a str,
}

fuzz_target!(|input: Input<'_>| {
    let encoded = encode_value(input.text);
    assert_eq!(decode_value(&encoded).as_deref(), Ok(input.text));
    if let Ok(value) = HeaderValue::from_bytes(input.value) {
        let _ = decode_value(&value);
    }

    let body = RequestHeaders::new(input.text, input.method, Some(input.text));
    let mut headers = HeaderMap::new();
    if body.write(&mut headers).is_ok() {
        assert_eq!(body.check(&headers), Ok(()));
    }

    if let Ok(schema) = serde_json::from_str(input.schema) {
        let _ = ParamHeaders::of(&schema);
    }
    if let Ok(params) = serde_json::from_str::<&RawValue>(input.arguments) {
        let _ = mirrored_name("tools/call", params);
    }
    let properties: Map<_, _> = input
        .annotations
        .iter()
        .map(|(name, header)| {
            let schema = json!({ "type": "string", "x-mcp-header": header });
            ((*name).to_owned(), schema)
        })
        .collect();
    let schema = json!({ "type": "object", "properties": properties });
    let schema = serde_json::from_value(schema).expect("it is for an object");
    if let Ok(mirrored) = ParamHeaders::of(&schema) {
        let arguments: Option<RawObject> = serde_json::from_str(input.arguments).ok();
        let written = mirrored.write(arguments.as_ref(), &mut headers);
        let checked = mirrored.check(arguments.as_ref(), &headers);
        assert_eq!(written.is_ok(), checked.is_ok(), "{written:?} {checked:?}");
    }
});
