//! MCP of 2026-07-28, request by request, without a socket.

mod admission;
mod answers;
mod author_mistakes;
mod backend;
mod building;
pub(crate) mod changing;
mod closures;
mod conveniences;
mod described;
mod faults;
mod flows;
mod gating;
mod key_reload;
mod kinds;
mod lists;
mod low_level;
mod middleware;
mod mistakes;
mod mounting;
mod offers;
mod partial;
mod permission;
mod serverless;
mod shedding;
mod sizes;
mod state;
mod stream_ids;
mod streaming;
mod subscriptions;
pub(crate) mod tasks;
mod text_arguments;
mod told;

use std::sync::OnceLock;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Map, Value, json};
use sterna_seal::{Key, Keyring, SecretKey, ThreadEntropy};
use sterna_server::http::{HttpServer, ResponseBody};
use sterna_server::{Mcp, Server, Service};
use tower_service::Service as _;

/// One client of one instance; clones of the server share their keys only.
#[derive(Clone)]
pub(crate) struct Client {
    http: HttpServer<Mcp>,
    capabilities: Value,
    meta: Map<String, Value>,
    token: Option<&'static str>,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Every message: one of a document, all of a stream.
    pub(crate) messages: Vec<Value>,
}

impl Client {
    /// A client that can be asked everything.
    pub(crate) fn of(server: Server) -> Self {
        Self::at(mounted(server).build().unwrap())
    }

    /// As `of`, of a server that was built elsewhere.
    pub(crate) fn at(service: Service) -> Self {
        Self {
            http: service.into_tower().unwrap(),
            capabilities: json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}),
            meta: Map::new(),
            token: None,
        }
    }

    pub(crate) fn with_token(&self, token: &'static str) -> Self {
        let token = Some(token);
        Self {
            token,
            ..self.clone()
        }
    }

    pub(crate) fn with_capabilities(&self, capabilities: Value) -> Self {
        Self {
            capabilities,
            ..self.clone()
        }
    }

    pub(crate) fn with_meta(&self, key: &str, value: Value) -> Self {
        let mut client = self.clone();
        client.meta.insert(key.to_owned(), value);
        client
    }

    /// Sends a request that is in order, whatever its `params` are.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Reply {
        Reply::read(self.open(method, params).await).await
    }

    /// As `send`, with an answer that is still being written.
    pub(crate) async fn open(&self, method: &str, mut params: Value) -> Response<ResponseBody> {
        let mut meta = self.meta.clone();
        meta.insert(VERSION.to_owned(), json!("2026-07-28"));
        meta.insert(CAPABILITIES.to_owned(), self.capabilities.clone());
        params["_meta"] = Value::Object(meta);
        let mut headers = headers("2026-07-28", method);
        let names = ["name", "uri", "taskId"];
        let name = names.iter().find_map(|name| params.get(name));
        if let Some(name) = name.and_then(Value::as_str) {
            headers.insert("mcp-name", HeaderValue::from_str(name).unwrap());
        }
        if let Some(token) = self.token {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
            headers.insert("authorization", bearer);
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post(headers, body.to_string()).await
    }

    /// Sends whatever it is given.
    pub(crate) async fn post(&self, headers: HeaderMap, body: String) -> Response<ResponseBody> {
        let mut request = Request::post("/mcp")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        *request.headers_mut() = headers;
        self.http.clone().call(request).await.unwrap()
    }

    pub(crate) async fn call_tool(&self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        self.send("tools/call", params).await.into_result()
    }

    /// Repeats a request with the answers and the state of the round before.
    pub(crate) async fn retry(
        &self,
        method: &str,
        params: &Value,
        before: &Value,
        answers: Value,
    ) -> Reply {
        let mut params = params.clone();
        params["inputResponses"] = answers;
        if let Some(state) = before.get("requestState") {
            params["requestState"] = state.clone();
        }
        self.send(method, params).await
    }

    /// Plays a tool to its end, one set of answers after the other, and shows
    /// what was asked in between.
    pub(crate) async fn play(&self, name: &str, arguments: Value, rounds: &[Value]) -> String {
        let params = json!({"name": name, "arguments": arguments});
        let mut result = self.send("tools/call", params.clone()).await.into_result();
        let mut shown = show(&result);
        for answers in rounds {
            let reply = self
                .retry("tools/call", &params, &result, answers.clone())
                .await;
            result = reply.into_result();
            shown.push_str(" -> ");
            shown.push_str(&show(&result));
        }
        shown
    }
}

impl Reply {
    pub(crate) async fn read(response: Response<ResponseBody>) -> Self {
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = std::str::from_utf8(&body).unwrap();
        let is_stream = head
            .headers
            .get("content-type")
            .is_some_and(|kind| kind == "text/event-stream");
        let documents: Vec<&str> = if is_stream {
            text.lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .collect()
        } else {
            Some(text)
                .filter(|text| !text.is_empty())
                .into_iter()
                .collect()
        };
        Self {
            status: head.status.as_u16(),
            headers: head.headers,
            messages: documents
                .into_iter()
                .map(|document| serde_json::from_str(document).unwrap())
                .collect(),
        }
    }

    /// The result; a test that gets an error instead fails with its text.
    #[track_caller]
    pub(crate) fn into_result(mut self) -> Value {
        let last = self.messages.pop().expect("an answer");
        match last.get("result") {
            Some(result) => result.clone(),
            None => panic!("{last}"),
        }
    }

    /// The status and the error in one line.
    pub(crate) fn error(&self) -> String {
        let error = &self.messages.last().expect("an answer")["error"];
        let data = error
            .get("data")
            .map_or(String::new(), |data| format!(" {data}"));
        format!(
            "{} {} {}{data}",
            self.status, error["code"], error["message"]
        )
    }
}

/// A result in one line: what is asked, or what is said.
pub(crate) fn show(result: &Value) -> String {
    if result["resultType"] == "input_required" {
        let requests = result["inputRequests"].as_object().unwrap();
        let shown = requests.iter().map(|(key, request)| {
            let message = request["params"]["message"].as_str().unwrap_or_default();
            match message {
                "" => format!("{key}: {}", request["method"].as_str().unwrap()),
                message => format!("{key}: {message}"),
            }
        });
        return format!("ask {{{}}}", shown.collect::<Vec<_>>().join(", "));
    }
    let said = result["content"].as_array().into_iter().flatten();
    let text: Vec<_> = said.filter_map(|block| block["text"].as_str()).collect();
    let mark = if result["isError"] == true {
        "error: "
    } else {
        ""
    };
    format!("{mark}{}", text.join(" "))
}

pub(crate) fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

pub(crate) fn headers(version: &str, method: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", version),
        ("mcp-method", method),
    ] {
        headers.insert(name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// A server that can be mounted: with the keys of the test, and open to every
/// caller unless it says who may call.
pub(crate) fn mounted(server: Server) -> Server {
    let server = server.keys(keys());
    if server.has_gate() {
        server
    } else {
        server.anonymous()
    }
}

/// The keys that all instances of a test share.
pub(crate) fn keys() -> Keyring {
    static SECRET: OnceLock<SecretKey> = OnceLock::new();
    let secret = SECRET.get_or_init(|| SecretKey::generate(&mut ThreadEntropy).unwrap());
    Keyring::new([Key::new(secret.clone())]).unwrap()
}

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
