//! The requests of the benchmark as bytes, and what is read from an answer.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
/// A call of a tool that takes a count, or its retry with an answer to the one
/// question of `asked`.
pub fn counted(host: SocketAddr, tool: &str, count: u32, asked: Option<&[u8]>) -> Result<Vec<u8>> {
    let accepting = |asked| accepting(asked, NAME);
    let more = asked.map_or_else(|| Ok(String::new()), accepting)?;
    let params = format!(r#","name":"{tool}","arguments":{{"count":{count}}}{more}"#);
    Ok(request(
        Client::Constant,
        host,
        "tools/call",
        Some(tool),
        &params,
    ))
}

/// Request to a route, small enough not to be asked anything.
pub fn checkout(host: SocketAddr) -> Vec<u8> {
    let body = r#"{"order":"two books and a lamp","amount":20}"#;
    let length = body.len();
    format!(
        "POST /checkout HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         authorization: Bearer ada\r\naccept: */*\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// What a retry adds to the parameters: `name` as the answer to the one question
/// of `asked`, and its state.
pub fn accepting(asked: &[u8], name: &str) -> Result<String> {
    let state = state(asked)?;
    let key = string_after(asked, r#""inputRequests":{""#)?;
    Ok(format!(
        r#","requestState":"{state}","inputResponses":{{"{key}":{{"action":"accept","content":{{"name":"{name}"}}}}}}"#
    ))
}

/// Whether an answer asks something.
pub fn asks(answer: &[u8]) -> bool {
    state(answer).is_ok()
}

/// Opens a stream of changes.
pub fn listen(host: SocketAddr) -> Vec<u8> {
    let params = r#","notifications":{"toolsListChanged":true}"#;
    request(Client::Constant, host, "subscriptions/listen", None, params)
}

/// A call that becomes a task, which asks.
pub fn task(host: SocketAddr) -> Vec<u8> {
    let params = format!(r#","name":"hold","arguments":{{"message":"{MESSAGE}"}}"#);
    request(Client::Follower, host, "tools/call", Some("hold"), &params)
}

/// The id of the task that a call became.
pub fn task_id(answer: &[u8]) -> Result<&str> {
    string_after(answer, r#""taskId":""#)
}

/// A look at a task.
pub fn look_at(host: SocketAddr, task: &str) -> Vec<u8> {
    let params = format!(r#","taskId":"{task}""#);
    request(Client::Follower, host, "tasks/get", Some(task), &params)
}

/// Whether a task that was looked at waits for an answer.
pub fn waits(answer: &[u8]) -> Result<bool> {
    Ok(string_after(answer, r#""status":""#)? == "input_required")
}

/// Checks that the name which was answered is in the result.
pub fn check_name(answer: &[u8]) -> Result<()> {
    contains(answer, NAME)
}

/// The request state of an answer, as it is spelled in JSON.
pub fn state(answer: &[u8]) -> Result<&str> {
    string_after(answer, r#""requestState":""#)
}

fn string_after<'a>(answer: &'a [u8], mark: &str) -> Result<&'a str> {
    let text = std::str::from_utf8(answer)?;
    let rest = text.split_once(mark).map(|(_, rest)| rest);
    let string = rest.and_then(|rest| rest.split_once('"'));
    let (string, _) = string.with_context(|| format!("no {mark} in {text}"))?;
    Ok(string)
}

/// Checks that `part` is in an answer.
pub fn contains(answer: &[u8], part: &str) -> Result<()> {
    let text = std::str::from_utf8(answer)?;
    ensure!(text.contains(part), "{part} is not in {text}");
    Ok(())
}

/// The client that sends a request, as its `_meta` says.
#[derive(Clone, Copy, Debug)]
pub enum Client {
    /// The same in every request
    Constant,
    /// One that follows tasks
    Follower,
    /// One of several behind the same connections, with a progress token and a
    /// trace of its own in the request with this number
    Varied(u64),
}

impl Client {
    /// The members of `_meta`.
    fn meta(self) -> String {
        match self {
            Self::Constant => format!(r#"{VERSION},{INFO}:{BENCH},{CAPABILITIES}:{FORMS}"#),
            Self::Follower => format!(r#"{VERSION},{INFO}:{BENCH},{CAPABILITIES}:{TASKS}"#),
            Self::Varied(number) => {
                let client = number % CLIENTS;
                let info = format!(
                    r#"{{"name":"client-{client}","title":"Client {client}","version":"1.{client}.0"}}"#
                );
                let capabilities = if client.is_multiple_of(2) {
                    FORMS
                } else {
                    FORMS_AND_URLS
                };
                // Spread over all digits, as random ids are.
                let trace =
                    u128::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                let span = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                format!(
                    r#""progressToken":{number},"traceparent":"00-{trace:032x}-{span:016x}-01",{VERSION},{INFO}:{info},{CAPABILITIES}:{capabilities}"#
                )
            }
        }
    }
}

/// A whole request, head and body.
pub fn request(
    client: Client,
    host: SocketAddr,
    method: &str,
    name: Option<&str>,
    params: &str,
) -> Vec<u8> {
    let meta = client.meta();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{{meta}}}{params}}}}}"#
    );
    let name = name.map_or_else(String::new, |name| format!("mcp-name: {name}\r\n"));
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: {method}\r\n{name}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The message of a call.
pub const MESSAGE: &str = "a message of forty characters, more or less";
/// The answer to a question.
pub const NAME: &str = "Ada Lovelace";

const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
const INFO: &str = r#""io.modelcontextprotocol/clientInfo""#;
const CAPABILITIES: &str = r#""io.modelcontextprotocol/clientCapabilities""#;
const BENCH: &str = r#"{"name":"bench","version":"1.0.0"}"#;
const FORMS: &str = r#"{"elicitation":{"form":{}}}"#;
const FORMS_AND_URLS: &str = r#"{"elicitation":{"form":{},"url":{}}}"#;
const TASKS: &str =
    r#"{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

/// How many clients share the connections, as behind a gateway.
const CLIENTS: u64 = 4;
