//! Trace of the messages for `-v`: a block for each message, without its
//! secrets.

use http::{HeaderMap, HeaderName, Method, StatusCode};
use serde_json::Value;
use sterna_client::{Builder, Direction, WireMessage};
use sterna_inspect::mask;
use url::Url;

use crate::screen::Screen;
use crate::text::{JsonLayout, Text, one_line, printable_json};

/// Returns true if a header field of this name holds a secret.
pub(crate) fn is_secret(name: &HeaderName) -> bool {
    mask::is_secret(name.as_str())
}

/// Returns true if an argument or a field of this name holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    mask::is_secret(name)
}

/// Has every message shown, if the user wants to see them.
pub(crate) fn watch(builder: Builder, screen: Screen) -> Builder {
    match screen.verbose {
        true => builder.on_wire(move |message| screen.detail(block(message))),
        false => builder,
    }
}

/// Names the header fields that go with every request and come from the user.
pub(crate) fn own_headers(headers: &HeaderMap, screen: Screen) {
    let names: Vec<_> = headers
        .keys()
        .map(|name| format!("{name} (hidden)"))
        .collect();
    if !names.is_empty() {
        screen.detail(format!("with every request: {}", names.join(", ")));
    }
}

/// Shows a request to an HTTP API, if the user wants to see it.
pub(crate) fn http_request(
    screen: Screen,
    method: &Method,
    url: &Url,
    headers: &HeaderMap,
    body: Option<&str>,
) {
    if screen.verbose {
        let mut url = url.clone();
        if url.query().is_some() {
            url.set_query(Some("(hidden)"));
        }
        let heading = format!("--> {method} {}", one_line(url.as_str()));
        screen.detail(http_block(
            heading,
            headers,
            body.unwrap_or_default().as_bytes(),
        ));
    }
}

/// Shows a response of an HTTP API, if the user wants to see it.
pub(crate) fn http_response(screen: Screen, status: StatusCode, headers: &HeaderMap, body: &[u8]) {
    if screen.verbose {
        screen.detail(http_block(format!("<-- HTTP {status}"), headers, body));
    }
}

fn http_block(heading: String, headers: &HeaderMap, body: &[u8]) -> Text {
    let mut json: Option<Value> = serde_json::from_slice(body).ok();
    if let Some(json) = &mut json {
        hide_state(json);
    }
    lines(heading, headers, json, body.len())
}

/// Hides the state of a paused request, and answers to questions whose name says
/// that they are secret.
fn hide_state(body: &mut Value) {
    let hidden = |text: &str| Value::from(format!("(hidden, {} characters)", text.chars().count()));
    match body.get_mut("resume") {
        Some(Value::String(state)) => *state = format!("(hidden, {} characters)", state.len()),
        Some(Value::Object(resume)) => {
            let answers = resume.get_mut("answers").and_then(Value::as_object_mut);
            for (key, answer) in answers.into_iter().flatten() {
                if is_secret_name(key) && !answer.is_null() {
                    *answer = hidden(&answer.to_string());
                }
            }
        }
        _ => {}
    }
}

fn block(message: &WireMessage<'_>) -> Text {
    let body: Option<Value> = serde_json::from_slice(message.body).ok();
    let heading = heading(message, body.as_ref());
    lines(heading, message.headers, body, message.body.len())
}

/// A heading, header fields and a body of `size` bytes, without their secrets.
fn lines(heading: String, headers: &HeaderMap, body: Option<Value>, size: usize) -> Text {
    let mut text = Text::bold(heading);
    for (name, value) in headers {
        let value = match value.is_sensitive() {
            true => "(hidden)".to_owned(),
            false => mask::header(name, &String::from_utf8_lossy(value.as_bytes())),
        };
        text += Text::from("\n    ") + Text::dim(format!("{name}: {}", one_line(&value)));
    }
    let body = match body {
        Some(mut body) => {
            mask::body(&mut body);
            printable_json(&format!("{body:#}"), JsonLayout::Lines)
        }
        None if size == 0 => String::new(),
        // What cannot be read cannot be masked either.
        None => format!("({size} bytes that are no JSON)"),
    };
    for line in body.lines() {
        text += "\n    ";
        text += line;
    }
    text
}

/// Direction and kind of a message, and the request it belongs to.
fn heading(message: &WireMessage<'_>, body: Option<&Value>) -> String {
    let arrow = match message.direction {
        Direction::Sent => "-->",
        Direction::Received => "<--",
    };
    let member = |name: &str| body.and_then(|body| body.get(name));
    let kind = match (member("method"), member("error"), member("result")) {
        (Some(method), ..) => one_line(method.as_str().unwrap_or("no method")),
        (None, Some(_), _) => "error".to_owned(),
        (None, None, Some(_)) => "result".to_owned(),
        (None, None, None) => "no message".to_owned(),
    };
    let mut heading = format!("{arrow} {kind}");
    if let Some(id) = member("id") {
        heading.push_str(&format!(" ({})", one_line(&id.to_string())));
    }
    if let Some(status) = message.status {
        heading.push_str(&format!(", HTTP {}", status.as_u16()));
    }
    heading
}
