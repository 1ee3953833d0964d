//! The few messages that the clients of the simulation speak.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Map, Value, json};

use crate::exchange::Response;
use crate::world::Order;

/// What goes along with a retry.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    pub(crate) state: String,
    pub(crate) answers: Map<String, Value>,
}

/// A question as a client sees it.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) key: String,
    pub(crate) field: String,
    pub(crate) message: String,
}

/// What a response says.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    Asked(Vec<Question>, String),
    Done(String),
    Other(String),
    /// The request state is not accepted.
    Refused,
    /// Come again: the server has no room, or does not reach its store.
    Unavailable,
}

/// The body of a call.
pub(crate) fn body(order: &Order, retry: Option<&Retry>, id: u64) -> Bytes {
    let mut params = json!({
        "name": TOOL,
        "arguments": order,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        },
    });
    if let Some(retry) = retry {
        params["requestState"] = retry.state.as_str().into();
        params["inputResponses"] = retry.answers.clone().into();
    }
    let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    call.to_string().into()
}

/// A call of somebody.
pub(crate) fn request(user: &str, body: Bytes) -> Request<Full<Bytes>> {
    Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", format!("Bearer {}", token(user)))
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", TOOL)
        .body(Full::new(body))
        .expect("every part is valid")
}

pub(crate) fn accept(question: &Question, answer: String) -> Value {
    json!({"action": "accept", "content": {question.field.as_str(): answer}})
}

/// The order that a request is about.
pub(crate) fn order_of(body: &[u8]) -> Option<Order> {
    let message: Value = serde_json::from_slice(body).ok()?;
    serde_json::from_value(message["params"]["arguments"].clone()).ok()
}

pub(crate) fn has_state(body: &[u8]) -> bool {
    let message = serde_json::from_slice::<Value>(body).unwrap_or_default();
    message["params"]["requestState"].is_string()
}

/// Reads a response, be it a document or a stream.
pub(crate) fn read(response: &Response) -> Said {
    let text = String::from_utf8_lossy(&response.body);
    let mut events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let document = events.next_back().unwrap_or(&text);
    let Ok(message) = serde_json::from_str::<Value>(document) else {
        return Said::Other(format!("{} {text}", response.status));
    };
    if let Some(error) = message.get("error") {
        return if error["data"]["reason"] == "invalid_request_state" {
            Said::Refused
        } else if response.status == 503 {
            Said::Unavailable
        } else {
            Said::Other(format!("{} {error}", response.status))
        };
    }
    let result = &message["result"];
    match result["resultType"].as_str() {
        Some("input_required") => {
            let questions = result["inputRequests"].as_object().into_iter().flatten();
            let state = result["requestState"].as_str().unwrap_or_default();
            Said::Asked(questions.map(question).collect(), state.to_owned())
        }
        _ => match result["content"][0]["text"].as_str() {
            Some(text) if result["isError"] != true => Said::Done(text.to_owned()),
            _ => Said::Other(message.to_string()),
        },
    }
}

fn question((key, request): (&String, &Value)) -> Question {
    let params = &request["params"];
    let mut fields = params["requestedSchema"]["properties"]
        .as_object()
        .into_iter()
        .flatten();
    Question {
        key: key.clone(),
        field: fields
            .next()
            .map_or(String::new(), |(name, _)| name.clone()),
        message: params["message"].as_str().unwrap_or_default().to_owned(),
    }
}

/// The bearer token of a user.
pub(crate) fn token(user: &str) -> String {
    format!("the-token-of-{user}")
}

/// The tool that everybody calls.
pub(crate) const TOOL: &str = "order";

const VERSION: &str = "2026-07-28";
