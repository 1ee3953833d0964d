//! The `sterna` command as a client: what a server asks is answered by another
//! process, from the paused call that the first one printed.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::Era;
use super::cases::{Case, Outcome};
use crate::shell::target_dir;

/// Runs a case and reports it as the other clients do.
pub(super) fn run(case: &Case, fields: &Map<String, Value>, url: &str, era: Era) -> Outcome {
    match complete(case, fields, url, era) {
        Ok(got) => Outcome::of(&case.id, Ok(got)),
        Err(error) => Outcome::of(&case.id, Err(format!("{error:#}"))),
    }
}

fn complete(case: &Case, fields: &Map<String, Value>, url: &str, era: Era) -> Result<String> {
    let mut call = sterna();
    match (&case.tool, &case.prompt, &case.resource) {
        (Some(tool), ..) => {
            call.args(["call", url, tool]);
        }
        (_, Some(prompt), _) => {
            call.args(["prompt", url, prompt]);
        }
        (.., Some(resource)) => {
            call.args(["read", url, resource]);
        }
        _ => bail!("a case that calls nothing"),
    }
    for (name, value) in case.arguments.as_object().into_iter().flatten() {
        call.arg(match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}:={other}"),
        });
    }
    call.args(["--era", era.word()]);
    if era == Era::Legacy {
        // Its questions come in the middle of the call and have no keys.
        call.args(foretold(case, fields));
    }
    let mut ran = ended(&mut call, "")?;
    for _ in 0..MOST_ROUNDS {
        if ran.code != INPUT_REQUIRED {
            break;
        }
        let answers = target_dir().join("interop/answers.json");
        let answered = answers_to(&ran.json["questions"], case, fields);
        std::fs::write(&answers, answered.to_string())?;
        let mut resume = sterna();
        resume.args(["resume", "-", "--answers"]).arg(&answers);
        ran = ended(&mut resume, &ran.json.to_string())?;
    }
    text(&ran.json).with_context(|| format!("exit {}: {}", ran.code, ran.json))
}

/// What the command ended with.
struct Ran {
    code: i32,
    json: Value,
}

fn sterna() -> Command {
    let mut command = Command::new(target_dir().join("debug/sterna"));
    command.args(["--json", "--quiet"]);
    command
}

fn ended(command: &mut Command, input: &str) -> Result<Ran> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the sterna command")?;
    let mut stdin = child.stdin.take().context("stdin was piped")?;
    // A command that reads no input may be gone by now.
    stdin.write_all(input.as_bytes()).ok();
    drop(stdin);
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(Ran {
        code: output.status.code().context("the command was killed")?,
        json: serde_json::from_slice(&output.stdout).with_context(|| said.into_owned())?,
    })
}

/// Answers for questions that are known by their only field.
fn foretold(case: &Case, fields: &Map<String, Value>) -> Vec<String> {
    let mut flags = vec!["--accept".to_owned(), "url".to_owned()];
    for (name, value) in fields {
        match (&case.action, value) {
            (Some(action), _) => flags.extend([format!("--{action}"), name.clone()]),
            (None, Value::String(text)) => {
                flags.extend(["--answer".to_owned(), format!("{name}={text}")]);
            }
            (None, _) => {}
        }
    }
    flags
}

/// Answers to the questions of a paused call, whatever the server calls them.
fn answers_to(questions: &Value, case: &Case, fields: &Map<String, Value>) -> Value {
    let mut answers = Map::new();
    for (key, question) in questions.as_object().into_iter().flatten() {
        let form = question["params"]["requestedSchema"]["properties"].as_object();
        let answer = match (&case.action, form) {
            (Some(action), _) => json!({"action": action}),
            (None, None) => json!({"action": "accept"}),
            (None, Some(form)) => form
                .keys()
                .filter_map(|name| Some((name.clone(), fields.get(name)?.clone())))
                .collect::<Map<_, _>>()
                .into(),
        };
        answers.insert(key.clone(), answer);
    }
    Value::Object(answers)
}

/// The text of a tool, a prompt or a resource.
fn text(result: &Value) -> Option<String> {
    let texts = [
        &result["content"][0]["text"],
        &result["messages"][0]["content"]["text"],
        &result["contents"][0]["text"],
    ];
    texts.into_iter().find_map(Value::as_str).map(str::to_owned)
}

const INPUT_REQUIRED: i32 = 4;
const MOST_ROUNDS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn case(json: Value) -> Case {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn questions_are_answered_under_the_names_that_the_server_gives_them() {
        let questions = json!({
            "server:who": {"params": {"requestedSchema": {"properties": {"name": {}}}}},
            "page": {"params": {"mode": "url"}},
        });
        let fields = Map::from_iter([
            ("name".to_owned(), json!("Ada")),
            ("age".to_owned(), json!(3)),
        ]);
        let accepts = case(json!({"id": "x", "expect": ""}));
        assert_eq!(
            answers_to(&questions, &accepts, &fields),
            json!({"server:who": {"name": "Ada"}, "page": {"action": "accept"}})
        );
        let declines = case(json!({"id": "x", "expect": "", "action": "decline"}));
        assert_eq!(
            answers_to(&questions, &declines, &fields)["server:who"],
            json!({"action": "decline"})
        );
        let name = Map::from_iter([("name".to_owned(), json!("Ada"))]);
        assert_eq!(
            foretold(&declines, &name)[2..],
            ["--decline", "name"].map(str::to_owned)
        );
    }
}
