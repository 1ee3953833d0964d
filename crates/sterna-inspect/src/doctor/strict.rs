//! Check that a server refuses header fields that contradict the request
//! (HTTP-S16).
//!
//! A proxy decides by the headers and the server by the body: if the server does
//! not compare them, a request can get past the proxy's rules.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use sterna_client::{Client, Error};
use sterna_protocol::errors::ProtocolError;
use sterna_protocol::http::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION};

use super::Findings;

/// Sends three requests that nothing can come of, each with one header that
/// says something else.
pub(super) async fn look(client: &Client, findings: &mut Findings<'_>) {
    let unknown = json!({"name": "sterna-doctor"});
    for (header, says, method, params) in [
        (MCP_METHOD, "tools/list", "server/discover", Value::Null),
        (MCP_NAME, "sterna-patient", "tools/call", unknown),
        (
            MCP_PROTOCOL_VERSION,
            "2025-11-25",
            "server/discover",
            Value::Null,
        ),
    ] {
        let (ok, seen) = attempt(client, &header, says, method, params).await;
        findings.note("strict", ok, format!("{header}: {seen}"));
    }
}

async fn attempt(
    client: &Client,
    header: &HeaderName,
    says: &'static str,
    method: &str,
    params: Value,
) -> (bool, String) {
    let instead = HeaderMap::from_iter([(header.clone(), HeaderValue::from_static(says))]);
    let asked = client.dangerous_request::<Value>(method, params, instead);
    match asked.await {
        Err(error) if is_mismatch(&error) => (true, "refused if it differs".to_owned()),
        Err(error) => (false, format!("not compared with the request ({error})")),
        Ok(_) => (false, "not compared with the request".to_owned()),
    }
}

fn is_mismatch(error: &Error) -> bool {
    let found = error.rpc().map(ProtocolError::find);
    matches!(found, Some(Ok(Some(ProtocolError::HeaderMismatch))))
}
