//! Trace of the messages for `-v`: a block for each message, without its
//! secrets.

use http::{HeaderMap, HeaderName};
use serde_json::Value;
use sterna_client::{Builder, Direction, WireMessage};
use sterna_inspect::mask;

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

fn block(message: &WireMessage<'_>) -> Text {
    let mut body: Option<Value> = serde_json::from_slice(message.body).ok();
    let mut text = Text::bold(heading(message, body.as_ref()));
    for (name, value) in message.headers {
        let value = mask::header(name, &String::from_utf8_lossy(value.as_bytes()));
        text += Text::from("\n    ") + Text::dim(format!("{name}: {}", one_line(&value)));
    }
    let body = match &mut body {
        Some(body) => {
            mask::body(body);
            printable_json(&format!("{body:#}"), JsonLayout::Lines)
        }
        // What cannot be read cannot be masked either.
        None => format!("({} bytes that are no JSON)", message.body.len()),
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
