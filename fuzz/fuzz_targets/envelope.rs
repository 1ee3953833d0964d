//! No bytes stop the reader, and what it accepts it writes and reads again.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use sterna_protocol::direct::{self, ClientMemory};
use sterna_protocol::jsonrpc::{Answer, Dispatch, ErrorObject, Message, Nothing};
use sterna_protocol::methods::{self, RequestMethod};
use sterna_protocol::{legacy, sep2322, tasks};

fuzz_target!(|input: (u8, &[u8])| {
    let (method, bytes) = input;
    read_all(bytes);
    // The fuzzer seldom finds the way into a payload by itself.
    let method = METHODS[usize::from(method) % METHODS.len()];
    let request = [
        r#"{"jsonrpc":"2.0","id":1,"method":""#,
        method,
        r#"","params":"#,
    ]
    .concat();
    read_all(&[request.as_bytes(), bytes, b"}"].concat());
    read_all(&[br#"{"jsonrpc":"2.0","id":1,"result":"#, bytes, b"}"].concat());
    read_all(&[br#"{"jsonrpc":"2.0","error":"#, bytes, b"}"].concat());
});

fn read_all(bytes: &[u8]) {
    raw(bytes);
    directly(bytes);
    typed::<methods::ClientRequest, methods::ClientNotification, Nothing>(bytes);
    typed::<tasks::ClientRequest, tasks::ServerNotification, Nothing>(bytes);
    typed::<legacy::ClientRequest, legacy::ClientNotification, Nothing>(bytes);
    typed::<legacy::ServerRequest, legacy::ServerNotification, Nothing>(bytes);
    typed::<sep2322::ClientRequest, methods::ServerNotification, Nothing>(bytes);
    result_of::<methods::CallTool>(bytes);
    result_of::<methods::Discover>(bytes);
    result_of::<methods::ListTools>(bytes);
    result_of::<methods::ReadResource>(bytes);
    result_of::<tasks::GetTask>(bytes);
}

fn raw(bytes: &[u8]) {
    match Message::raw(bytes) {
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
            let _ = ErrorObject::from(&error);
        }
    }
}

/// The direct reader reads what the careful one reads, or nothing; from memory
/// too.
fn directly(bytes: &[u8]) {
    type FromClient<'a> = Message<'a, methods::ClientRequest, methods::ClientNotification, Nothing>;
    let mut memory = ClientMemory::default();
    for _ in 0..2 {
        let Some((id, params)) = direct::request(bytes, &mut memory) else {
            return;
        };
        let Ok(Message::Request(careful)) = FromClient::decode(bytes) else {
            panic!("the careful reader refuses a request");
        };
        assert_eq!((id, params), (careful.id, careful.params));
    }
}

fn result_of<M: RequestMethod>(bytes: &[u8])
where
    M::Result: Serialize + Debug + PartialEq,
{
    typed::<Nothing, Nothing, M::Result>(bytes);
}

/// Whoever accepts less than raw text must not accept anything else, and must
/// keep what it accepted.
fn typed<R, N, A>(bytes: &[u8])
where
    R: for<'a> Dispatch<'a> + Serialize + Debug + PartialEq,
    N: for<'a> Dispatch<'a> + Serialize + Debug + PartialEq,
    A: for<'a> Answer<'a> + Serialize + Debug + PartialEq,
{
    let Ok(message) = Message::<'_, R, N, A>::decode(bytes) else {
        return;
    };
    assert!(Message::raw(bytes).is_ok());
    let mut written = Vec::new();
    message
        .encode(&mut written)
        .expect("what was read can be written");
    let again = Message::<'_, R, N, A>::decode(&written).expect("and read again");
    assert_eq!(message, again);
}

const METHODS: &[&str] = &[
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/get",
    "resources/read",
    "completion/complete",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/result",
    "tasks/input_response",
    "initialize",
    "logging/setLevel",
    "elicitation/create",
    "sampling/createMessage",
    "roots/list",
];
