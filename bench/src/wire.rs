//! The requests of the benchmark, and whether an answer is the right one.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

/// What is asked of a server, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// `echo`: one request, one answer
    Plain,
    /// `ask`: a question, its answer, the result; two requests
    Mrtr2,
    /// `tools/list`
    List,
    /// `server/discover`
    Discover,
}

impl Scenario {
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Mrtr2 => "mrtr2",
            Self::List => "list",
            Self::Discover => "discover",
        }
    }

    /// The request that begins it.
    pub fn first(self, host: SocketAddr) -> Vec<u8> {
        match self {
            Self::Plain => call(host, "echo", ""),
            Self::Mrtr2 => call(host, "ask", ""),
            Self::List => request(host, "tools/list", None, ""),
            Self::Discover => request(host, "server/discover", None, ""),
        }
    }

    /// Checks the answer to the first request.
    pub fn check(self, answer: &[u8]) -> Result<()> {
        match self {
            Self::Plain => contains(answer, MESSAGE),
            Self::Mrtr2 => state(answer).map(drop),
            Self::List => contains(answer, r#""inputSchema""#),
            Self::Discover => contains(answer, "2026-07-28"),
        }
    }
}

/// The second request of [`Scenario::Mrtr2`], with the state of the first answer.
pub fn retry(host: SocketAddr, answer: &[u8]) -> Result<Vec<u8>> {
    Ok(call(host, "ask", &accepting(answer)?))
}

/// A call of a tool that takes a count, or its retry with an answer to the one
/// question of `asked`.
pub fn counted(host: SocketAddr, tool: &str, count: u32, asked: Option<&[u8]>) -> Result<Vec<u8>> {
    let more = asked.map_or_else(|| Ok(String::new()), accepting)?;
    let params = format!(r#","name":"{tool}","arguments":{{"count":{count}}}{more}"#);
    Ok(request(host, "tools/call", Some(tool), &params))
}

/// What a retry adds to the parameters: the answer to the one question of
/// `asked`, and its state.
fn accepting(asked: &[u8]) -> Result<String> {
    let state = state(asked)?;
    let key = string_after(asked, r#""inputRequests":{""#)?;
    Ok(format!(
        r#","requestState":"{state}","inputResponses":{{"{key}":{{"action":"accept","content":{{"name":"{NAME}"}}}}}}"#
    ))
}

/// Whether an answer asks something.
pub fn asks(answer: &[u8]) -> bool {
    state(answer).is_ok()
}

/// Opens a stream of changes.
pub fn listen(host: SocketAddr) -> Vec<u8> {
    let params = r#","notifications":{"toolsListChanged":true}"#;
    request(host, "subscriptions/listen", None, params)
}

/// A call that becomes a task, which asks.
pub fn task(host: SocketAddr) -> Vec<u8> {
    let params = format!(r#","name":"hold","arguments":{{"message":"{MESSAGE}"}}"#);
    request_as(FOLLOWER, host, "tools/call", Some("hold"), &params)
}

/// The id of the task that a call became.
pub fn task_id(answer: &[u8]) -> Result<&str> {
    string_after(answer, r#""taskId":""#)
}

/// A look at a task.
pub fn look_at(host: SocketAddr, task: &str) -> Vec<u8> {
    let params = format!(r#","taskId":"{task}""#);
    request_as(FOLLOWER, host, "tasks/get", Some(task), &params)
}

/// Whether a task that was looked at waits for an answer.
pub fn waits(answer: &[u8]) -> Result<bool> {
    Ok(string_after(answer, r#""status":""#)? == "input_required")
}

/// Checks the answer to the second request.
pub fn check_retry(answer: &[u8]) -> Result<()> {
    contains(answer, MESSAGE)?;
    contains(answer, NAME)
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

fn contains(answer: &[u8], part: &str) -> Result<()> {
    let text = std::str::from_utf8(answer)?;
    ensure!(text.contains(part), "{part} is not in {text}");
    Ok(())
}

fn call(host: SocketAddr, tool: &str, more: &str) -> Vec<u8> {
    let params = format!(r#","name":"{tool}","arguments":{{"message":"{MESSAGE}"}}{more}"#);
    request(host, "tools/call", Some(tool), &params)
}

fn request(host: SocketAddr, method: &str, name: Option<&str>, params: &str) -> Vec<u8> {
    request_as(CLIENT, host, method, name, params)
}

fn request_as(
    client: &str,
    host: SocketAddr,
    method: &str,
    name: Option<&str>,
    params: &str,
) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{{META}{client}}}{params}}}}}"#
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

const MESSAGE: &str = "a message of forty characters, more or less";
const NAME: &str = "Ada Lovelace";
const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":"#;
/// What the clients can do.
const CLIENT: &str = r#"{"elicitation":{"form":{}}}"#;
/// What one can do that follows tasks.
const FOLLOWER: &str =
    r#"{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
