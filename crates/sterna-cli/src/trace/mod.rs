//! What goes over the wire, for `-v`: a block for each message, without its
//! secrets.

mod mask;

use http::HeaderMap;
use serde_json::Value;
use sterna_client::{Builder, Direction, WireMessage};

use crate::screen::{BOLD, DIM, Screen};
use crate::table::{one_line, plain};

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

fn block(message: &WireMessage<'_>) -> String {
    let mut body: Option<Value> = serde_json::from_slice(message.body).ok();
    let mut text = format!("{BOLD}{}{BOLD:#}", heading(message, body.as_ref()));
    for (name, value) in message.headers {
        let value = mask::header(name, &String::from_utf8_lossy(value.as_bytes()));
        text.push_str(&format!("\n    {DIM}{name}: {}{DIM:#}", one_line(&value)));
    }
    let body = match &mut body {
        Some(body) => {
            mask::body(body);
            plain(&format!("{body:#}"))
        }
        // What cannot be read cannot be masked either.
        None => format!("({} bytes that are no JSON)", message.body.len()),
    };
    for line in body.lines() {
        text.push_str("\n    ");
        text.push_str(line);
    }
    text
}

/// Which way, what it is, and which request it belongs to.
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
