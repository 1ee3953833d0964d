//! A call as code: a test for `sterna-testkit`, a `sterna call` command, and a
//! script for `curl`. Secrets are masked, and no state is in any of them.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sterna_client::Era;

use crate::mask;
use crate::record::{CallKind, CallRecord, CallRequest, Status};

/// One branch of a call: its request, and the answers of each later round.
#[derive(Debug)]
pub(crate) struct Export {
    request: CallRequest,
    rounds: Vec<Vec<(String, Value)>>,
    /// Text of the result, if the branch has ended with one.
    text: Option<String>,
    is_error: bool,
}

impl Export {
    /// The branch that ends with `round`; `None` if it cannot be repeated.
    pub(crate) fn of(call: &CallRecord, round: usize) -> Option<Self> {
        let last = call.rounds.get(round)?;
        let path = call.path_to(round);
        let is_altered = path.iter().any(|at| call.rounds[*at].altered.is_some());
        if call.era != Era::Modern || is_altered {
            return None;
        }
        let mut request = call.request.clone();
        let mut arguments = Value::Object(request.arguments);
        mask::body(&mut arguments);
        request.arguments = arguments.as_object().cloned().unwrap_or_default();
        let later = path.iter().skip(1);
        let rounds = later.map(|at| masked(&call.rounds[*at].answers));
        let (text, is_error) = match &last.status {
            Status::Done { result, is_error } => (text_of(result), *is_error),
            _ => (None, false),
        };
        Some(Self {
            request,
            rounds: rounds.collect(),
            text,
            is_error,
        })
    }

    fn answers(&self) -> impl Iterator<Item = &(String, Value)> {
        self.rounds.iter().flatten()
    }

    /// A test for `sterna-testkit`. It needs a function `server` that builds the
    /// server.
    pub(crate) fn as_test(&self) -> String {
        let name = identifier(&self.request.name);
        let (constructor, quoted) = match self.request.kind {
            CallKind::Prompt => ("on_prompt", &self.request.name),
            CallKind::Resource => ("on_resource", &self.request.name),
            CallKind::Tool => ("on", &self.request.name),
        };
        let mut test = String::from("use serde_json::json;\nuse sterna_testkit::Flow;\n\n");
        let mut add = |line: String| {
            test.push_str(&line);
            test.push('\n');
        };
        add("#[tokio::test]".to_owned());
        add(format!("async fn {name}_ends_as_it_was_recorded() {{"));
        add(format!(
            "    let flow = Flow::{constructor}(server, {quoted:?})"
        ));
        if !self.request.arguments.is_empty() {
            let arguments = Value::Object(self.request.arguments.clone());
            add(format!("        .args(json!({}))", rust_json(&arguments)));
        }
        for (key, answer) in self.answers() {
            add(format!(
                "        .respond({key:?}, json!({}))",
                rust_json(answer)
            ));
        }
        add("        ;".to_owned());
        add("    let run = flow.run().await;".to_owned());
        let keys: Vec<String> = self.answers().map(|(key, _)| format!("{key:?}")).collect();
        add(format!(
            "    let asked: [&str; {}] = [{}];",
            keys.len(),
            keys.join(", ")
        ));
        add("    assert_eq!(run.questions(), asked);".to_owned());
        if self.is_error {
            add("    assert!(run.is_error());".to_owned());
        }
        if let Some(text) = &self.text {
            add(format!("    assert_eq!(run.text(), {text:?});"));
        }
        add("    flow.check().await;".to_owned());
        add("}".to_owned());
        test
    }

    /// The words of the `sterna` command.
    pub(crate) fn as_command(&self, target: &str) -> String {
        let is_url = target.starts_with("http://") || target.starts_with("https://");
        let verb = match self.request.kind {
            CallKind::Prompt => "prompt",
            CallKind::Resource => "read",
            CallKind::Tool => "call",
        };
        let mut command = format!("sterna {verb}");
        if is_url {
            command = format!("{command} {}", quoted(target));
        }
        let mut add = |word: &str| {
            command.push(' ');
            command.push_str(&quoted(word));
        };
        add(&self.request.name);
        for (name, value) in &self.request.arguments {
            match value {
                Value::String(text) => add(&format!("{name}={text}")),
                other => add(&format!("{name}:={other}")),
            }
        }
        for (key, answer) in self.answers() {
            let content = answer.get("content").and_then(Value::as_object);
            match (answer.get("action").and_then(Value::as_str), content) {
                (Some("accept"), Some(fields)) if !fields.is_empty() => {
                    for (field, value) in fields {
                        add("--answer");
                        match value {
                            Value::String(text) => add(&format!("{key}.{field}={text}")),
                            other => add(&format!("{key}.{field}:={other}")),
                        }
                    }
                }
                (Some(action @ ("accept" | "decline" | "cancel")), _) => {
                    add(&format!("--{action}"));
                    add(key);
                }
                // A model or folders: the command asks for them.
                _ => {}
            }
        }
        if !is_url {
            command = format!("{command} -- {target}");
        }
        command
    }

    /// A script with one `curl` for each round. The state goes from one to the
    /// next by `jq`; it is not in the script.
    pub(crate) fn as_script(&self, target: &str) -> String {
        let mut script =
            String::from("# Add the header fields of your credentials, if the server wants any.\n");
        for round in 0..=self.rounds.len() {
            let number = round + 1;
            let body = self.body(round);
            let headers = [
                "content-type: application/json".to_owned(),
                "accept: application/json, text/event-stream".to_owned(),
                "mcp-protocol-version: 2026-07-28".to_owned(),
                format!("mcp-method: {}", self.request.kind.method()),
                format!("mcp-name: {}", header_text(&self.request.name)),
            ];
            let headers = headers
                .map(|header| format!("-H {}", quoted(&header)))
                .join(" ");
            let state = match round {
                0 => String::new(),
                round => {
                    format!(" --arg state \"$(jq -r .result.requestState round{round}.json)\"")
                }
            };
            writeln!(
                script,
                "jq -n{state} {} |\n  curl -sS {} {headers} -d @- -o round{number}.json",
                quoted(&body),
                quoted(target),
            )
            .expect("a string takes what is written");
        }
        writeln!(script, "jq .result round{}.json", self.rounds.len() + 1)
            .expect("a string takes what is written");
        script
    }

    /// The body of a round, as a `jq` program: JSON, with the state in a variable.
    fn body(&self, round: usize) -> String {
        let request = &self.request;
        let mut params = Map::new();
        params.insert(
            "_meta".to_owned(),
            json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities":
                    {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
            }),
        );
        match request.kind {
            CallKind::Resource => {
                params.insert("uri".to_owned(), request.name.as_str().into());
            }
            CallKind::Prompt | CallKind::Tool => {
                params.insert("name".to_owned(), request.name.as_str().into());
                let arguments = Value::Object(request.arguments.clone());
                params.insert("arguments".to_owned(), arguments);
            }
        }
        if let Some(answers) = round
            .checked_sub(1)
            .and_then(|before| self.rounds.get(before))
        {
            let answers: Map<String, Value> = answers.iter().cloned().collect();
            params.insert("inputResponses".to_owned(), Value::Object(answers));
        }
        let body = json!({
            "jsonrpc": "2.0", "id": round + 1, "method": request.kind.method(), "params": params,
        });
        match round {
            0 => body.to_string(),
            _ => format!("{body} | .params.requestState = $state"),
        }
    }
}

fn masked(answers: &[(String, Value)]) -> Vec<(String, Value)> {
    // By key, so that the answer to a question of a secret name is hidden whole.
    let mut members = Value::Object(answers.iter().cloned().collect());
    mask::body(&mut members);
    match members {
        Value::Object(members) => members.into_iter().collect(),
        _ => Vec::new(),
    }
}

fn text_of(result: &Value) -> Option<String> {
    let blocks = result.get("content")?.as_array()?;
    match blocks.as_slice() {
        [block] => block.get("text")?.as_str().map(str::to_owned),
        _ => None,
    }
}

/// The name of a test.
fn identifier(name: &str) -> String {
    let letters = name
        .chars()
        .map(|letter| match letter.is_ascii_alphanumeric() {
            true => letter.to_ascii_lowercase(),
            false => '_',
        });
    let name: String = letters.take(40).collect();
    match name.starts_with(|first: char| first.is_ascii_lowercase()) {
        true => name,
        false => format!("call_{name}"),
    }
}

/// JSON as the macro `json!` takes it. Strings are written as Rust writes them,
/// and integers have a type that holds them.
fn rust_json(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Number(number) if number.is_i64() => {
            match i32::try_from(number.as_i64().unwrap_or(0)) {
                Ok(_) => number.to_string(),
                Err(_) => format!("{number}_i64"),
            }
        }
        Value::Number(number) if number.is_u64() => format!("{number}_u64"),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(rust_json).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{name:?}: {}", rust_json(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A name as a header field holds it: what is no visible ASCII is left out.
fn header_text(name: &str) -> String {
    let is_visible = |letter: &char| letter.is_ascii_graphic() || *letter == ' ';
    name.chars().filter(is_visible).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn export() -> Export {
        Export {
            request: CallRequest {
                kind: CallKind::Tool,
                name: "roll-out".to_owned(),
                arguments: json!({"to": "it's\n\u{7}", "n": 5_000_000_000_u64, "apiKey": "k"})
                    .as_object()
                    .unwrap()
                    .clone(),
            },
            rounds: vec![
                vec![(
                    "why".to_owned(),
                    json!({"action": "accept", "content": {"why": "a b"}}),
                )],
                vec![("sure".to_owned(), json!({"action": "decline"}))],
            ],
            text: Some("\"done\"".to_owned()),
            is_error: false,
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        expected.assert_eq(text);
    }

    #[test]
    fn a_test_has_literals_of_rust() {
        check(
            &export().as_test(),
            expect![[r#"
                use serde_json::json;
                use sterna_testkit::Flow;

                #[tokio::test]
                async fn roll_out_ends_as_it_was_recorded() {
                    let flow = Flow::on(server, "roll-out")
                        .args(json!({"to": "it's\n\u{7}", "n": 5000000000_i64, "apiKey": "k"}))
                        .respond("why", json!({"action": "accept", "content": {"why": "a b"}}))
                        .respond("sure", json!({"action": "decline"}))
                        ;
                    let run = flow.run().await;
                    let asked: [&str; 2] = ["why", "sure"];
                    assert_eq!(run.questions(), asked);
                    assert_eq!(run.text(), "\"done\"");
                    flow.check().await;
                }
            "#]],
        );
    }

    #[test]
    fn a_command_is_quoted_for_the_shell() {
        check(
            &export()
                .as_command("http://127.0.0.1:1/mcp")
                .replace('\u{7}', ""),
            expect![[r#"
                sterna call http://127.0.0.1:1/mcp roll-out 'to=it'\''s
                ' n:=5000000000 apiKey=k --answer 'why.why=a b' --decline sure"#]],
        );
        check(
            export()
                .as_command("npx some-server")
                .rsplit_once("--")
                .unwrap()
                .1,
            expect![" npx some-server"],
        );
    }
}
