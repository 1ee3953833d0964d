//! Calls of servers of the earlier era that ask in the middle, saved by one
//! process and resumed by another.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::server;

/// A server whose one tool asks, with the events of its call.
#[derive(Default)]
struct OldServer {
    events: Mutex<Vec<Value>>,
    call: Mutex<Value>,
    /// Methods of the requests, `answer` for an answer.
    seen: Mutex<Vec<String>>,
}

impl OldServer {
    fn start() -> (String, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let server: Arc<Self> = Arc::default();
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let server = serving.clone();
                // A client that hangs up in the middle is no matter here.
                thread::spawn(move || server.serve(stream.unwrap()).ok());
            }
        });
        (url, server)
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let field = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|(field, _)| field.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_owned())
        };
        let length = field("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let method = match message["method"].as_str() {
            Some(method) => method,
            None if message.get("result").is_some() => "answer",
            None => head.split(' ').next().unwrap(),
        };
        self.seen.lock().unwrap().push(method.to_owned());
        let id = &message["id"];
        let mut events = self.events.lock().unwrap();
        let reply = match (method, field("last-event-id")) {
            ("initialize", _) => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "old", "version": "1"}});
                let body = json!({"jsonrpc": "2.0", "id": id, "result": result});
                format!(
                    "200 OK\r\nmcp-session-id: one\r\ncontent-type: application/json\r\n\r\n{body}"
                )
            }
            ("tools/call", _) => {
                *self.call.lock().unwrap() = id.clone();
                let form = json!({"message": "Why?", "requestedSchema": {
                    "type": "object", "properties": {"reason": {"type": "string"}}}});
                events.push(Value::Null);
                events.push(json!({"jsonrpc": "2.0", "id": 0,
                    "method": "elicitation/create", "params": form}));
                stored(&events, 0)
            }
            ("answer", _) => {
                let reason = &message["result"]["content"]["reason"];
                let text = format!("deployed: {}", reason.as_str().unwrap());
                let result = json!({"content": [{"type": "text", "text": text}]});
                let call = self.call.lock().unwrap();
                events.push(json!({"jsonrpc": "2.0", "id": *call, "result": result}));
                "202 Accepted\r\n\r\n".to_owned()
            }
            ("GET", Some(last)) if field("mcp-session-id").as_deref() == Some("one") => {
                stored(&events, last.parse::<usize>().unwrap() + 1)
            }
            ("GET", Some(_)) => "404 Not Found\r\n\r\n".to_owned(),
            ("GET", None) => "405 Method Not Allowed\r\n\r\n".to_owned(),
            _ => "202 Accepted\r\n\r\n".to_owned(),
        };
        drop(events);
        write!(
            stream,
            "HTTP/1.1 {}",
            reply.replacen("\r\n", "\r\nconnection: close\r\n", 1)
        )
    }

    fn count(&self, method: &str) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| *seen == method).count()
    }
}

/// The stored events from `first` on; the stream ends after them.
fn stored(events: &[Value], first: usize) -> String {
    let events = events.iter().enumerate().skip(first);
    let events = events.map(|(number, event)| {
        let data = match event {
            Value::Null => String::new(),
            event => event.to_string(),
        };
        format!("id: {number}\nretry: 300\ndata: {data}\n\n")
    });
    let events: String = events.collect();
    format!("200 OK\r\ncontent-type: text/event-stream\r\n\r\n{events}")
}

struct Case {
    folder: TempDir,
}

impl Case {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        Self { folder }
    }

    fn sterna(&self, args: &[&str]) -> Ran {
        run(command().current_dir(&self.folder).args(args), "")
    }
}

#[test]
fn a_call_of_a_session_is_saved_and_resumed_by_other_processes() {
    let (url, server) = OldServer::start();
    let case = Case::new();
    let call = ["call", &url, "deploy", "--era", "legacy", "--no-input"];
    let saved = case.sterna(&[&call[..], &["--save", "call.json"]].concat());
    assert_eq!(saved.code, 4, "{saved:?}");
    assert_eq!(saved.stdout, "input required: reason\nsaved to call.json\n");
    assert_eq!(server.count("DELETE"), 0, "the call needs its session");

    let resume = ["resume", "call.json", "--answer", "reason=tested"];
    for _ in 0..2 {
        let resumed = case.sterna(&resume);
        assert_eq!(resumed.shown(), "deployed: tested\nexit 0\n");
    }
    assert_eq!(server.count("initialize"), 1);
    assert_eq!(server.count("tools/call"), 1);
    assert_eq!(server.count("answer"), 1);
    assert_eq!(server.count("notifications/cancelled"), 0);

    let file = case.folder.path().join("call.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"one\"", "\"two\"")).unwrap();
    let lost = case.sterna(&resume);
    assert_eq!(lost.code, 1, "{lost:?}");
    assert!(
        lost.stderr.contains("no answer was sent (MR0518)"),
        "{lost:?}"
    );
    assert!(lost.stderr.contains("start the call over"), "{lost:?}");
    assert_eq!(server.count("answer"), 1);
}

#[test]
fn a_call_that_cannot_be_saved_says_why_and_what_to_do() {
    let url = server::start();
    let case = Case::new();
    let call = ["call", &url, "deploy", "service=billing", "--era", "legacy"];
    let refused = case.sterna(&[&call[..], &["--no-input", "--save", "call.json"]].concat());
    assert_eq!(
        (refused.code, refused.stdout.as_str()),
        (4, ""),
        "{refused:?}"
    );
    for words in ["reason", "cannot be saved", "event store", "--answer"] {
        assert!(refused.stderr.contains(words), "{words}: {refused:?}");
    }
    assert!(!case.folder.path().join("call.json").exists());
}
