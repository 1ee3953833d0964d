//! A modern server that says what a test tells it to, and remembers what it was
//! asked.

use std::sync::{Arc, Mutex};

use http::HeaderMap;
use serde_json::{Value, json};

use crate::world::{Reply, serve};

/// A request as a server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn params(&self) -> &Value {
        &self.body["params"]
    }

    /// The parameters without what every request says about itself.
    pub(crate) fn bare(&self) -> String {
        let mut params = self.params().clone();
        params.as_object_mut().unwrap().shift_remove("_meta");
        params.to_string()
    }
}

/// A server at a URL.
pub(crate) struct Scripted {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Scripted {
    /// Answers `server/discover` as it should be, and everything else with what
    /// `answer` makes of it: a result, or a whole reply.
    pub(crate) async fn start<R: Into<Said>>(
        answer: impl Fn(&Seen, usize) -> R + Send + Sync + 'static,
    ) -> Self {
        Self::raw(move |seen, count| {
            if seen.body["method"] == "server/discover" {
                return Said::Result(discovered());
            }
            answer(seen, count).into()
        })
        .await
    }

    /// Answers everything with what `answer` makes of it.
    pub(crate) async fn raw<R: Into<Said>>(
        answer: impl Fn(&Seen, usize) -> R + Send + Sync + 'static,
    ) -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let origin = {
            let seen = seen.clone();
            let answer = Arc::new(answer);
            serve(move |asked| {
                let body = serde_json::from_str(&asked.body).unwrap_or(Value::Null);
                let headers = asked.head.headers;
                let now = Seen { headers, body };
                let count = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(now.clone());
                    let same = |old: &&Seen| old.body["method"] == now.body["method"];
                    seen.iter().filter(same).count()
                };
                let said = answer(&now, count).into();
                async move { said.into_reply(&now.body["id"]) }
            })
            .await
        };
        let url = format!("{origin}/mcp");
        Self { url, seen }
    }

    /// The responses that were sent to the server.
    pub(crate) fn answers(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        let these = seen.iter().filter(|seen| seen.body.get("result").is_some());
        these.cloned().collect()
    }

    /// The requests without a message: those for the server's own stream.
    pub(crate) fn streams(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        let these = seen.iter().filter(|seen| seen.body.is_null());
        these.cloned().collect()
    }

    /// The requests of `method`, in order.
    pub(crate) fn seen(&self, method: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        let these = seen.iter().filter(|seen| seen.body["method"] == method);
        these.cloned().collect()
    }
}

/// The server's response to one request.
pub(crate) enum Said {
    Error(Value),
    Reply(Reply),
    Result(Value),
}

impl Said {
    fn into_reply(self, id: &Value) -> Reply {
        match self {
            Self::Error(error) => {
                Reply::json(400, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
            Self::Reply(reply) => reply,
            Self::Result(result) => {
                Reply::json(200, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
            }
        }
    }
}

impl From<Value> for Said {
    fn from(result: Value) -> Self {
        Self::Result(result)
    }
}

impl From<Reply> for Said {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

pub(crate) fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    })
}

/// A finished tool call that says `text`.
pub(crate) fn done(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

/// A form with one required field, `name`.
pub(crate) fn name_form(message: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "colour": {"type": "string", "default": "red"},
                },
                "required": ["name"],
            },
        },
    })
}
