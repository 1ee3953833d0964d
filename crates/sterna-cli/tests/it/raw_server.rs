//! A server written by hand, for answers that ours would never give and for
//! requests that must never come.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// The requests that came, as their head and their message.
#[derive(Clone, Default)]
pub(crate) struct Requests(Arc<Mutex<Vec<(String, Value)>>>);

impl Requests {
    /// The heads of all requests, one after the other.
    pub(crate) fn heads(&self) -> String {
        let all = self.0.lock().unwrap();
        all.iter().map(|(head, _)| head.as_str()).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Answers requests with what `answer` makes of method and parameters: a
/// `result` or an `error` member, or a list of messages for a stream.
pub(crate) fn start(
    answer: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (requests, answer) = (Requests::default(), Arc::new(answer));
    let seen = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (seen, answer) = (seen.clone(), Arc::clone(&answer));
            // A client that hangs up in the middle is no matter here.
            thread::spawn(move || serve(stream.unwrap(), &seen, &*answer).ok());
        }
    });
    (url, requests)
}

fn serve(
    mut stream: TcpStream,
    seen: &Requests,
    answer: &dyn Fn(&str, &Value) -> Value,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    seen.0.lock().unwrap().push((head, message.clone()));
    let (method, id) = (
        message["method"].as_str().unwrap_or_default(),
        &message["id"],
    );
    let mut said = answer(method, &message["params"]);
    let (kind, body) = match &mut said {
        Value::Array(messages) => {
            let events = messages.iter_mut().map(|message| {
                message["jsonrpc"] = "2.0".into();
                message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] = id.clone();
                format!("data: {message}\n\n")
            });
            ("text/event-stream", events.collect::<String>())
        }
        response => {
            response["jsonrpc"] = "2.0".into();
            response["id"] = id.clone();
            ("application/json", response.to_string())
        }
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The `server/discover` result of a modern server with tools.
pub(crate) fn discovered(name: &str) -> Value {
    json!({"result": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": name, "version": "1"}},
        "ttlMs": 0,
        "cacheScope": "private",
    }})
}
