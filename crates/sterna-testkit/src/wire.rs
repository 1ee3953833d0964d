//! Requests as a client sends them, and answers as it reads them.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use sterna_server::http::ResponseBody;

/// The method and name that are called.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) method: &'static str,
    pub(crate) name: String,
}

impl Target {
    /// The parameters of a call, as far as all rounds have them.
    pub(crate) fn params(&self, args: &Value) -> Value {
        match self.method {
            "resources/read" => json!({"uri": self.name}),
            _ => json!({"name": self.name, "arguments": args}),
        }
    }
}

/// One HTTP request, before it is sent.
pub(crate) struct Message {
    method: Method,
    headers: HeaderMap,
    body: String,
}

impl Message {
    /// A request of 2026-07-28, with any `params`.
    pub(crate) fn modern(method: &str, mut params: Value, capabilities: &Value) -> Self {
        let names = ["name", "uri", "taskId"];
        let name = names.iter().find_map(|name| params[name].as_str());
        let name = name.map(ToOwned::to_owned);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut message = Self::post(&message);
        message.set("mcp-protocol-version", "2026-07-28");
        message.set("mcp-method", method);
        if let Some(name) = name {
            message.set("mcp-name", &name);
        }
        message
    }

    /// A message within a session, or the one that opens it.
    pub(crate) fn legacy(message: &Value, session: Option<&HeaderValue>) -> Self {
        let mut message = Self::post(message);
        if let Some(session) = session {
            let name = HeaderName::from_static("mcp-session-id");
            message.headers.insert(name, session.clone());
            message.set("mcp-protocol-version", "2025-11-25");
        }
        message
    }

    fn post(message: &Value) -> Self {
        let mut post = Self {
            method: Method::POST,
            headers: HeaderMap::new(),
            body: message.to_string(),
        };
        post.set("host", "localhost");
        post.set("content-type", "application/json");
        post.set("accept", "application/json, text/event-stream");
        post
    }

    fn set(&mut self, name: &'static str, value: &str) {
        // A name that no header can hold is refused by the server, without one.
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
    }

    pub(crate) fn into_request(self, headers: &HeaderMap) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(Bytes::from(self.body)));
        *request.method_mut() = self.method;
        *request.uri_mut() = http::Uri::from_static("/mcp");
        *request.headers_mut() = self.headers;
        request.headers_mut().extend(headers.clone());
        request
    }
}

/// An answer that is being read, message by message.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: ResponseBody,
    is_stream: bool,
    /// Text that has come and not been read.
    text: String,
    is_over: bool,
}

impl Reply {
    pub(crate) fn new(response: Response<ResponseBody>) -> Self {
        let (head, body) = response.into_parts();
        let kind = head.headers.get("content-type");
        Self {
            status: head.status.as_u16(),
            is_stream: kind.is_some_and(|kind| kind == "text/event-stream"),
            headers: head.headers,
            body,
            text: String::new(),
            is_over: false,
        }
    }

    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.split() {
                return Some(message);
            }
            if self.is_over {
                return None;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_default();
                    self.text.push_str(&String::from_utf8_lossy(&data));
                }
                Some(Err(_)) | None => self.is_over = true,
            }
        }
    }

    /// The answer itself: the last message. A refusal of the whole request is
    /// shown as an error with its status.
    pub(crate) async fn last(&mut self) -> Value {
        let mut last = None;
        while let Some(message) = self.next().await {
            last = Some(message);
        }
        last.unwrap_or_else(|| {
            let text = format!("HTTP status {} without a message", self.status);
            json!({"error": {"code": self.status, "message": text}})
        })
    }

    fn split(&mut self) -> Option<Value> {
        if !self.is_stream {
            return match self.is_over {
                true => serde_json::from_str(&std::mem::take(&mut self.text)).ok(),
                false => None,
            };
        }
        while let Some(end) = self.text.find("\n\n") {
            let event: String = self.text.drain(..end + 2).collect();
            let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
            if let Ok(message) = serde_json::from_str(&data.collect::<String>()) {
                return Some(message);
            }
        }
        None
    }
}
