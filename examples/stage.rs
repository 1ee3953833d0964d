//! The other side of the examples: a client that prints what goes to and fro.

pub mod application;

use std::convert::Infallible;
use std::fmt::{Debug, Display};
use std::io::Write as _;

use anyhow::Context as _;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Map, Value, json};
use sterna_seal::{Keyring, ThreadEntropy};
use tower_service::Service;

/// Prints a line for whoever runs the example.
///
/// # Errors
///
/// Nobody reads it any more.
pub fn say(text: impl Display) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}

/// Keys for an example that runs once; a real server has them in a file.
///
/// # Errors
///
/// The system has no randomness.
pub fn keys() -> anyhow::Result<Keyring> {
    Ok(Keyring::generate(&mut ThreadEntropy)?)
}

/// A call of a tool, over as many rounds as it takes.
#[derive(Clone, Debug)]
pub struct Conversation {
    params: Value,
    session: Option<&'static str>,
}

impl Conversation {
    /// Begins a call.
    ///
    /// # Errors
    ///
    /// Nobody reads what is printed.
    pub fn begin(tool: &str, arguments: Value) -> anyhow::Result<Self> {
        say(format_args!("client: {tool} {arguments}"))?;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            "io.modelcontextprotocol/logLevel": "info",
            "progressToken": "p",
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let session = None;
        Ok(Self { params, session })
    }

    /// The same conversation, sent with the header `x-session`.
    #[must_use]
    pub fn in_session(mut self, session: &'static str) -> Self {
        self.session = Some(session);
        self
    }

    /// Fills in forms, each under the key it was asked with.
    ///
    /// # Errors
    ///
    /// Nobody reads what is printed.
    pub fn answer(&mut self, forms: Value) -> anyhow::Result<()> {
        say(format_args!("client: {forms}"))?;
        let forms = forms.as_object().context("an object of forms")?;
        let accept = |(key, content): (&String, &Value)| {
            let answer = json!({"action": "accept", "content": content});
            (key.clone(), answer)
        };
        let answers: Map<_, _> = forms.iter().map(accept).collect();
        self.params["inputResponses"] = answers.into();
        Ok(())
    }

    /// Plays one round on `server`, and prints what it says.
    ///
    /// # Errors
    ///
    /// The server answered with something that is neither a result nor an
    /// error.
    pub async fn round<S, B>(&mut self, server: &S) -> anyhow::Result<()>
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible> + Clone,
        B: Body<Data = Bytes, Error: Debug>,
    {
        let name = self.params["name"].as_str().unwrap_or_default();
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": self.params});
        let mut request = Request::post("/mcp");
        if let Some(session) = self.session {
            request = request.header("x-session", session);
        }
        let request = request
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", name)
            .body(Full::from(body.to_string()))?;
        let Ok(response) = server.clone().call(request).await;
        let body = response.into_body().collect().await;
        let body = body
            .map_err(|error| anyhow::anyhow!("{error:?}"))?
            .to_bytes();
        // One document, or one message in each `data` line of a stream.
        for line in std::str::from_utf8(&body)?.lines() {
            let text = line.strip_prefix("data: ").unwrap_or(line);
            if text.starts_with('{') {
                self.hear(&serde_json::from_str(text)?)?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, message: &Value) -> anyhow::Result<()> {
        if let Some(method) = message["method"].as_str() {
            return say(format_args!("server: {method} {}", message["params"]));
        }
        if let Some(error) = message.get("error") {
            return say(format_args!("server: error {}", error["message"]));
        }
        let result = message.get("result").context("a result or an error")?;
        if result["resultType"] != "input_required" {
            return say(format_args!("server: {}", result["content"][0]["text"]));
        }
        self.params["requestState"] = result["requestState"].clone();
        let asked = result["inputRequests"].as_object().context("questions")?;
        if asked.is_empty() {
            say("server: come again")?;
        }
        for (key, question) in asked {
            say(format_args!(
                "server: {key}? {}",
                question["params"]["message"]
            ))?;
        }
        Ok(())
    }
}
