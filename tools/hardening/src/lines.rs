//! Lines that are wrong, on standard input.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::corpus::Example;
use crate::good::{call, message, weather};
use crate::mutate::{cut_off, doubled, left_out, nasty_values, no_text, wrong_types};
use crate::outcome::{Outcome, describe};
use crate::subject::{limited, memory};
use crate::tally::Tally;

/// Tries on `program stdio` everything that can be wrong with a line. After
/// each of them comes a good request, which must be answered.
///
/// # Errors
///
/// An answer that nobody may get, a good request that was not answered, or
/// memory that grows.
pub fn try_all(program: &Path, examples: &[Example]) -> Result<Tally> {
    let mut lines = Lines::start(program)?;
    lines.row(
        "every official example, whatever it is an example of",
        examples.iter().map(|one| one.message.to_string().into()),
    )?;
    // What is no message is refused as soon as that is seen, whatever else is wrong with it.
    let messages = examples.iter().map(|example| &example.message);
    let messages: Vec<_> = messages
        .filter(|message| message.get("jsonrpc").is_some())
        .collect();
    let spoil = |spoil: fn(&Value) -> Vec<Value>| {
        let spoilt = messages.iter().flat_map(move |message| spoil(message));
        spoilt.map(|message| message.to_string().into_bytes())
    };
    lines.row(
        "a wrong type at every path of every example that is a message",
        spoil(wrong_types),
    )?;
    lines.row("every member or element left out", spoil(left_out))?;
    let twice = messages.iter().flat_map(|message| doubled(message));
    lines.row("every member there twice", twice.map(String::into_bytes))?;
    let text = String::from_utf8(weather().body)?;
    lines.row("a line cut off after every byte", cut_off(&text))?;
    lines.row(
        "bytes that are no UTF-8, at every seventh place",
        no_text(&text),
    )?;
    let nasty = nasty_values().into_iter();
    lines.row(
        "a nasty value as an argument: up to 100,000 levels deep, huge, no number, no text",
        nasty.map(|value| text.replacen("\"New York\"", &value, 1).into_bytes()),
    )?;
    lines.row(
        "no message at all, several in one line, a batch, a line of 5 MiB",
        [
            Vec::new(),
            b" ".to_vec(),
            b"\r".to_vec(),
            b"\x00".to_vec(),
            b"[]".to_vec(),
            format!("[{text}]").into_bytes(),
            format!("{text}{text}").into_bytes(),
            vec![b'x'; 5 << 20],
            vec![b'['; 5 << 20],
        ],
    )?;
    let tally = std::mem::take(&mut lines.tally);
    let before = memory(&lines.child, "VmRSS:")?;
    lines.row("again", spoil(wrong_types))?;
    let after = memory(&lines.child, "VmRSS:")?;
    ensure!(after < before + 4096, "{before} KiB, then {after} KiB");
    lines.end()?;
    Ok(tally)
}

struct Lines {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    probes: u64,
    tally: Tally,
}

impl Lines {
    fn start(program: &Path) -> Result<Self> {
        let mut child = limited(program)
            .arg("stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().context("there is a pipe")?;
        let stdout = child.stdout.take().context("there is a pipe")?;
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            probes: 0,
            tally: Tally::default(),
        })
    }

    /// Sends each line with a good request behind it, and reads the replies.
    ///
    /// One line at a time: requests that are served at once may be answered in
    /// any order, and a reply without an id could be that of any of them.
    fn row(&mut self, tried: &'static str, lines: impl IntoIterator<Item = Vec<u8>>) -> Result<()> {
        self.tally.begin(tried);
        for line in lines {
            let id = format!("probe-{}", self.probes);
            self.probes += 1;
            self.write(&line)?;
            let probe = call(&id, "get_weather", &json!({"location": "Oslo"}));
            self.write(probe.to_string().as_bytes())?;
            let outcome = self.hear(&id).with_context(|| {
                let line = String::from_utf8_lossy(&line[..line.len().min(2000)]);
                format!("the good request after `{line}`")
            })?;
            self.tally.count(&outcome, &line)?;
            self.cancel(&line)?;
        }
        Ok(())
    }

    /// Reads up to the answer to the good request `id`. Returns the outcome of
    /// the line before it.
    fn hear(&mut self, id: &str) -> Result<Outcome> {
        let mut said = Vec::new();
        loop {
            let line = self.read()?;
            if line["id"] == id {
                ensure!(describe(&line).as_deref() == Some("result"), "{line}");
                return Ok(outcome(&said));
            }
            said.push(line);
        }
    }

    /// Ends a subscription that `line` may have opened.
    fn cancel(&mut self, line: &[u8]) -> Result<()> {
        if let Ok(Value::Object(message)) = serde_json::from_slice(line)
            && message.get("method") == Some(&json!("subscriptions/listen"))
            && let Some(id) = message.get("id")
        {
            let mut cancel = message_without_id("notifications/cancelled");
            cancel["params"]["requestId"] = id.clone();
            self.write(cancel.to_string().as_bytes())?;
        }
        Ok(())
    }

    fn write(&mut self, line: &[u8]) -> Result<()> {
        self.stdin.write_all(line)?;
        self.stdin.write_all(b"\n")?;
        Ok(())
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            bail!("the server has gone");
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Ends the input; the server must end too, and well.
    fn end(mut self) -> Result<()> {
        drop(self.stdin);
        ensure!(self.child.wait()?.success(), "it ended badly");
        Ok(())
    }
}

fn outcome(said: &[Value]) -> Outcome {
    let labels: Vec<_> = said
        .iter()
        .map(|line| match line["method"].as_str() {
            Some("notifications/subscriptions/acknowledged") => Some("stream".to_owned()),
            _ => describe(line),
        })
        .collect();
    match &*labels {
        [] => Outcome::new("silence", true),
        [Some(label)] => Outcome::new(label.clone(), label != "-32603"),
        _ => Outcome::new(format!("{said:?}"), false),
    }
}

fn message_without_id(method: &str) -> Value {
    let mut message = message("", method, json!({}));
    if let Some(members) = message.as_object_mut() {
        members.shift_remove("id");
    }
    message
}
