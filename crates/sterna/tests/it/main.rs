//! The attributes, which only make sense through this crate.

#![cfg(test)]

mod arguments;
mod dashboard;
mod styles;

use sterna::server::Server;

/// Sends each of `requests` to a server of its own, over a connection of lines,
/// and returns the answers.
fn answers(server: fn() -> Server, requests: &[String]) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut output = Vec::new();
    for request in requests {
        let service = server().build().unwrap();
        let serving = service.serve_lines(request.as_bytes(), &mut output);
        runtime.block_on(serving).unwrap();
    }
    String::from_utf8(output).unwrap()
}

/// A request of 2026-07-28 by a client that can fill in forms.
fn request(method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"test","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{"form":{{}}}}}}}}{comma}{params}}}}}"#
    ) + "\n"
}
