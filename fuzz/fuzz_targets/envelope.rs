//! No bytes stop the reader, and what it accepts it writes and reads again.
#![no_main]

use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use sterna_protocol::jsonrpc::{ErrorObject, Message, Untagged};

type Deaf<'a> = Message<'a, Infallible, Infallible, IgnoredAny>;
type Client<'a> =
    Message<'a, Infallible, Option<&'a serde_json::value::RawValue>, Untagged<serde_json::Value>>;

fuzz_target!(|bytes: &[u8]| {
    let raw = Message::raw(bytes);
    match &raw {
        Ok(message) => {
            let mut written = Vec::new();
            message
                .encode(&mut written)
                .expect("raw text can be written");
            let again = Message::raw(&written).expect("what was written can be read");
            assert_eq!(format!("{message:?}"), format!("{again:?}"));
        }
        Err(error) => {
            assert!(error.request_id().is_none() || error.response_id().is_none());
            let _ = ErrorObject::from(error);
        }
    }
    // Whoever accepts less must not accept anything else.
    assert!(raw.is_ok() || Deaf::decode(bytes).is_err());
    assert!(raw.is_ok() || Client::decode(bytes).is_err());
});
