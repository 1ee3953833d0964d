//! A server on standard streams, in a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The client of a server that it has started itself.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stdio"))
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn request(&mut self, id: u32, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn hear(&mut self) -> Value {
        next(&mut self.output).expect("a message")
    }

    /// Ends the input; gives what was still said. The server ends by itself.
    fn end(mut self) -> Vec<Value> {
        drop(self.input);
        let said = std::iter::from_fn(|| next(&mut self.output)).collect();
        assert!(self.child.wait().unwrap().success());
        said
    }
}

/// The next line. What is no message fails the test.
fn next(output: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut line = String::new();
    if output.read_line(&mut line).unwrap() == 0 {
        return None;
    }
    let message: Value = serde_json::from_str(&line).expect("one message per line");
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    Some(message)
}

/// A modern call of the tool that greets.
fn greet(more: Value) -> Value {
    let mut params = json!({
        "name": "greet",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        },
    });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    params
}

/// Opens a session and calls the tool that greets, up to its question.
fn ask_in_a_session(client: &mut Client) -> Value {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "old", "version": "1"},
    });
    client.request(0, "initialize", &hello);
    assert_eq!(client.hear()["result"]["protocolVersion"], "2025-11-25");
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.request(1, "tools/call", &json!({"name": "greet"}));
    let question = client.hear();
    assert_eq!(question["method"], "elicitation/create");
    question
}

#[test]
fn a_modern_client_is_sent_away_with_the_question_and_the_end_of_input_ends_the_server() {
    let mut client = Client::start();
    client.request(1, "tools/call", &greet(json!({})));
    let asked = client.hear();
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required");
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let retry = greet(json!({
        "inputResponses": {"name": answer},
        "requestState": result["requestState"],
    }));
    client.request(2, "tools/call", &retry);
    let done = client.hear();
    assert_eq!((&asked["id"], &done["id"]), (&json!(1), &json!(2)));
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada!");
    assert!(client.end().is_empty());
}

#[test]
fn a_session_is_asked_while_its_call_waits_and_the_end_of_input_ends_the_server() {
    let mut client = Client::start();
    let question = ask_in_a_session(&mut client);
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    let done = client.hear();
    assert_eq!(done["id"], 1);
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada!");
    assert!(client.end().is_empty());
}

#[test]
fn a_client_that_leaves_in_the_middle_leaves_no_server_behind() {
    let mut client = Client::start();
    ask_in_a_session(&mut client);
    // The call is answered all the same: nobody is there to give the name.
    let said = client.end();
    assert_eq!(said.last().unwrap()["id"], 1);
}

#[test]
fn what_is_no_message_is_answered_with_one() {
    let mut client = Client::start();
    for line in ["no message", "", "{}", "[]"] {
        writeln!(client.input, "{line}").unwrap();
    }
    client.request(1, "tools/call", &greet(json!({})));
    while client.hear()["id"] != 1 {}
    assert!(client.end().is_empty());
}

/// Sends a signal as a terminal or an orchestrator would; the input stays open.
fn interrupt(client: &Client, signal: &str) {
    let id = client.child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_server_that_is_told_to_leave_does_not_wait_for_its_input() {
    for signal in ["-INT", "-TERM"] {
        let mut client = Client::start();
        client.request(1, "tools/call", &greet(json!({})));
        assert_eq!(client.hear()["id"], 1);
        interrupt(&client, signal);
        assert!(client.child.wait().unwrap().success(), "{signal}");
        assert!(next(&mut client.output).is_none());
    }
}

#[test]
fn a_server_that_is_told_to_leave_answers_what_it_was_asked() {
    let mut client = Client::start();
    ask_in_a_session(&mut client);
    interrupt(&client, "-TERM");
    while client.hear()["id"] != 1 {}
    assert!(client.child.wait().unwrap().success());
}
