//! Sessions of the older revisions, message by message, without a socket.

pub(crate) mod asking;
mod batch_limits;
mod batches;
mod elsewhere;
mod ended;
mod eras;
mod lists;
mod sessions;
mod sizes;
mod streams;
mod tasks;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use sterna_server::http::{HttpServer, ResponseBody};
use sterna_server::{Mcp, Server, Service};
use tower_service::Service as _;

use crate::mcp::{Reply, mounted};

/// A client of one instance within one session.
#[derive(Clone)]
pub(crate) struct Session {
    http: HttpServer<Mcp>,
    id: Option<String>,
    version: Option<&'static str>,
    token: Option<&'static str>,
}

impl Session {
    /// An instance that nobody has talked to.
    pub(crate) fn none(server: Server) -> Self {
        Self::at(mounted(server).build().unwrap())
    }

    /// As `none`, of a server that was built elsewhere.
    pub(crate) fn at(service: Service) -> Self {
        Self {
            http: service.into_tower().unwrap(),
            id: None,
            version: None,
            token: None,
        }
    }

    /// A session of 2025-11-25 with a client that can be asked everything.
    pub(crate) async fn of(server: Server) -> Self {
        let all = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
        Self::none(server).open("2025-11-25", all).await
    }

    pub(crate) async fn open(&self, version: &'static str, capabilities: Value) -> Self {
        let response = self.initialize(version, capabilities).await;
        let id = response.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let reply = Reply::read(response).await;
        assert_eq!(reply.into_result()["protocolVersion"], version);
        let session = Self {
            id: Some(id),
            version: (version != "2025-03-26").then_some(version),
            ..self.clone()
        };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.post(initialized).await.status(), 202);
        session
    }

    pub(crate) async fn initialize(
        &self,
        version: &str,
        capabilities: Value,
    ) -> Response<ResponseBody> {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "old", "version": "1"},
        });
        self.post(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
            .await
    }

    /// The same session on another instance.
    pub(crate) fn on(&self, other: &Self) -> Self {
        Self {
            http: other.http.clone(),
            ..self.clone()
        }
    }

    pub(crate) fn with_id(&self, id: &str) -> Self {
        Self {
            id: Some(id.to_owned()),
            ..self.clone()
        }
    }

    pub(crate) fn with_token(&self, token: &'static str) -> Self {
        Self {
            token: Some(token),
            ..self.clone()
        }
    }

    pub(crate) async fn post(&self, message: Value) -> Response<ResponseBody> {
        self.http(
            Method::POST,
            "application/json, text/event-stream",
            message.to_string(),
        )
        .await
    }

    pub(crate) async fn http(
        &self,
        method: Method,
        accept: &str,
        body: String,
    ) -> Response<ResponseBody> {
        let mut headers = HeaderMap::new();
        let mut set = |name: &'static str, value: &str| {
            headers.insert(name, HeaderValue::from_str(value).unwrap());
        };
        set("host", "localhost");
        set("content-type", "application/json");
        set("accept", accept);
        if let Some(id) = &self.id {
            set("mcp-session-id", id);
        }
        if let Some(version) = self.version {
            set("mcp-protocol-version", version);
        }
        if let Some(token) = self.token {
            set("authorization", &format!("Bearer {token}"));
        }
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = "/mcp".parse().unwrap();
        *request.headers_mut() = headers;
        self.http.clone().call(request).await.unwrap()
    }

    /// Sends a request and waits for all of its answer.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Reply {
        Reply::read(self.start(method, params).await).await
    }

    /// Sends a request whose answer is still being written.
    pub(crate) async fn start(&self, method: &str, params: Value) -> Response<ResponseBody> {
        self.post(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            .await
    }

    pub(crate) async fn listen(&self) -> Response<ResponseBody> {
        self.http(Method::GET, "text/event-stream", String::new())
            .await
    }

    pub(crate) async fn delete(&self) -> Response<ResponseBody> {
        self.http(Method::DELETE, "*/*", String::new()).await
    }

    /// Answers a question of the server.
    pub(crate) async fn answer(&self, question: &Value, result: Value) {
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        assert_eq!(self.post(answer).await.status(), 202);
    }

    /// Plays a request to its end, one answer after the other, and shows all
    /// that was asked in between.
    pub(crate) async fn play(&self, method: &str, params: Value, answers: &[Value]) -> String {
        let mut stream = self.start(method, params).await;
        let mut shown = String::new();
        for answer in answers {
            let question = next(&mut stream).await;
            shown += &format!("{} -> ", asked(&question));
            self.answer(&question, answer.clone()).await;
        }
        shown + &show(&next(&mut stream).await)
    }
}

/// The next message of an answer, be it a stream or a document.
pub(crate) async fn next(response: &mut Response<ResponseBody>) -> Value {
    loop {
        let frame = response
            .body_mut()
            .frame()
            .await
            .expect("a message")
            .unwrap();
        let data = frame.into_data().unwrap();
        let text = std::str::from_utf8(&data).unwrap();
        let text = text.strip_prefix("data: ").unwrap_or(text);
        if !text.starts_with(':') {
            return serde_json::from_str(text).unwrap();
        }
    }
}

/// A question in a few words.
fn asked(question: &Value) -> String {
    assert!(question["id"].is_string(), "{question}");
    let method = question["method"].as_str().unwrap();
    match question["params"]["message"].as_str() {
        Some(message) => format!("{method}: {message}"),
        None => method.to_owned(),
    }
}

/// The end of a call in a few words.
pub(crate) fn show(end: &Value) -> String {
    let Some(result) = end.get("result") else {
        return format!("{} {}", end["error"]["code"], end["error"]["message"]);
    };
    for modern in ["resultType", "ttlMs", "cacheScope", "_meta"] {
        assert!(result.get(modern).is_none(), "{result}");
    }
    let texts = ["content", "contents", "messages"]
        .iter()
        .flat_map(|member| result[member].as_array().into_iter().flatten());
    let text: Vec<_> = texts
        .filter_map(|part| {
            let text = part["text"].as_str();
            text.or_else(|| part["content"]["text"].as_str())
        })
        .collect();
    let mark = if result["isError"] == true {
        "error: "
    } else {
        ""
    };
    format!("{mark}{}", text.join(" "))
}
