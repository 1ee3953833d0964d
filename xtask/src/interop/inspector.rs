//! The inspector against a server of another SDK: its pages, used as a person
//! without a script uses them.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

use super::Era;
use super::cases::{Case, Outcome};
use crate::shell::target_dir;

/// Runs a case and reports it as the other clients do.
pub(super) fn run(case: &Case, fields: &Map<String, Value>, url: &str, era: Era) -> Outcome {
    let started = Inspector::start(&[url.into()], era);
    let ended = started.and_then(|inspector| inspector.play(case, fields));
    Outcome::of(&case.id, ended.map_err(|error| format!("{error:#}")))
}

/// A running inspector and the person in front of it.
pub(super) struct Inspector {
    child: Child,
    host: String,
    cookie: String,
    form_token: String,
}

impl Drop for Inspector {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A page and its address.
struct Page {
    path: String,
    body: String,
}

impl Inspector {
    /// Starts an inspector of `target`: a URL, or `--` and a command.
    pub(super) fn start(target: &[OsString], era: Era) -> Result<Self> {
        let mut child = Command::new(target_dir().join("debug/sterna"))
            .args(["--quiet", "inspect", "--no-open", "--era", era.word()])
            .args(target)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the inspector")?;
        let stdout = child.stdout.take().context("stdout was piped")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().strip_prefix("http://");
        let (host, ticket) = address
            .and_then(|text| text.split_once('/'))
            .context("no address")?;
        let mut inspector = Self {
            child,
            host: host.to_owned(),
            cookie: String::new(),
            form_token: String::new(),
        };
        let (head, _) = inspector.exchange(&format!("GET /{ticket} HTTP/1.1\r\n"), "")?;
        inspector.cookie = header(&head, "set-cookie").context("the ticket was refused")?;
        let page = inspector.get("/connection")?;
        let token = between(&page.body, "name=\"form_token\" value=\"", "\"");
        inspector.form_token = token.context("the page has no form")?.to_owned();
        Ok(inspector)
    }

    /// Finds the entry of a case in the lists, calls it and answers what is asked.
    fn play(&self, case: &Case, fields: &Map<String, Value>) -> Result<String> {
        let (kind, name) = match (&case.tool, &case.prompt, &case.resource) {
            (Some(tool), ..) => ("tool", tool.as_str()),
            (_, Some(prompt), _) => ("prompt", prompt.as_str()),
            (.., Some(resource)) => ("resource", resource.as_str()),
            _ => bail!("a case that calls nothing"),
        };
        let explored = self.get("/")?;
        ensure!(
            kind == "resource" || explored.body.contains(&format!("name={name}\"")),
            "the first page does not list {name}: {}",
            text_of(&explored.body)
        );
        let mut form = vec![("kind".to_owned(), kind.to_owned())];
        form.push(("name".to_owned(), name.to_owned()));
        if kind == "tool" {
            form.push(("mode".to_owned(), "json".to_owned()));
            let arguments = match &case.arguments {
                Value::Null => "{}".to_owned(),
                arguments => arguments.to_string(),
            };
            form.push(("json".to_owned(), arguments));
        } else {
            for (argument, value) in case.arguments.as_object().into_iter().flatten() {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                form.push((format!("arg/{argument}"), text));
            }
        }
        let action = case.action.as_deref();
        self.answer_all(self.post("/calls", &form)?, action, fields)
    }

    /// Answers the questions of a call until it has ended, and returns its text.
    pub(super) fn call_tool(
        &self,
        tool: &str,
        json: &str,
        fields: &Map<String, Value>,
    ) -> Result<String> {
        let form = [
            ("kind", "tool"),
            ("name", tool),
            ("mode", "json"),
            ("json", json),
        ];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.answer_all(self.post("/calls", &form)?, None, fields)
    }

    /// The text of the first page.
    pub(super) fn explore(&self) -> Result<String> {
        Ok(text_of(&self.get("/")?.body))
    }

    fn answer_all(
        &self,
        mut page: Page,
        action: Option<&str>,
        fields: &Map<String, Value>,
    ) -> Result<String> {
        for _ in 0..MOST_LOOKS {
            if let Some(text) = between(&page.body, "<pre class=\"text\" tabindex=\"0\">", "</pre>")
            {
                return Ok(unescaped(text));
            }
            let asks = ["answer", "live", "task"].into_iter().find_map(|what| {
                let form = format!("/{what}\" novalidate");
                let at = page.body.find(&form)?;
                let start = page.body[..at].rfind('"')? + 1;
                Some(page.body[start..at + what.len() + 1].to_owned())
            });
            page = match asks {
                Some(address) => {
                    let answers = answers_to(&page.body, action, fields);
                    self.post(&address, &answers)?
                }
                None if page.body.contains("class=\"spinner\"") => {
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "a page without its script has to be looked at again"
                    )]
                    thread::sleep(GLANCE);
                    self.get(&page.path)?
                }
                None => bail!("the call ended with: {}", text_of(&page.body)),
            };
        }
        bail!("the call did not end: {}", text_of(&page.body))
    }

    fn get(&self, path: &str) -> Result<Page> {
        let (_, body) = self.exchange(&format!("GET {path} HTTP/1.1\r\n"), "")?;
        Ok(Page {
            path: path.to_owned(),
            body,
        })
    }

    /// Sends a form and follows where it leads.
    fn post(&self, path: &str, fields: &[(String, String)]) -> Result<Page> {
        let mut body = format!("form_token={}", self.form_token);
        for (name, value) in fields {
            body.push_str(&format!("&{}={}", escaped(name), escaped(value)));
        }
        let head = format!(
            "POST {path} HTTP/1.1\r\nOrigin: http://{}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            self.host
        );
        let (head, body) = self.exchange(&head, &body)?;
        match header(&head, "location") {
            Some(path) => self.get(&path),
            None => bail!("the form was refused: {}", text_of(&body)),
        }
    }

    fn exchange(&self, head: &str, body: &str) -> Result<(String, String)> {
        let Self { host, cookie, .. } = self;
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let request = format!(
            "{head}Host: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no response")?;
        Ok((head.to_owned(), body.to_owned()))
    }
}

/// Answers to the questions on a page, by the names of their fields.
fn answers_to(
    page: &str,
    action: Option<&str>,
    fields: &Map<String, Value>,
) -> Vec<(String, String)> {
    let mut answers = vec![
        (
            "q0?action".to_owned(),
            action.unwrap_or("accept").to_owned(),
        ),
        ("question".to_owned(), "0".to_owned()),
    ];
    if let Some(number) = between(page, "name=\"question\" value=\"", "\"") {
        answers[1].1 = number.to_owned();
    }
    for piece in page.split("name=\"q").skip(1) {
        let path = format!("q{}", piece.split('"').next().unwrap_or_default());
        let Some((_, name)) = path.split_once('/') else {
            continue;
        };
        let value = fields.get(name).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        answers.extend(value.map(|value| (path.clone(), value)));
    }
    answers
}

fn header(head: &str, name: &str) -> Option<String> {
    let value = head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then_some(value)
    })?;
    Some(value.split(';').next()?.trim().to_owned())
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split(end).next().unwrap_or(rest))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

/// The words of a page, for a complaint.
fn text_of(page: &str) -> String {
    let main = page.split("<main").nth(1).unwrap_or(page);
    let mut words = String::new();
    for piece in main.split('<').skip(1) {
        let text = piece.split('>').nth(1).unwrap_or_default().trim();
        if !text.is_empty() {
            words.push_str(text);
            words.push(' ');
        }
    }
    words
}

fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

const GLANCE: Duration = Duration::from_millis(50);
const MOST_LOOKS: usize = 200;
const PATIENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_answered_by_their_names() {
        let page = r#"<input type="hidden" name="question" value="3"><input name="q0/name">
            <select name="q0/color"></select><input name="q0/other"><button name="q0?action">"#;
        let fields = json!({"name": "Ada", "color": "green", "age": 36});
        let answers = answers_to(page, Some("decline"), fields.as_object().unwrap());
        let answers: Vec<_> = answers
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            answers.join(" "),
            "q0?action=decline question=3 q0/name=Ada q0/color=green"
        );
    }
}
