//! Checks of a modern server's lists.

use serde_json::Value;
use sterna_client::Client;
use sterna_protocol::http::ParamHeaders;
use sterna_protocol::tool::Tool;

use super::Findings;

/// Checks the caching fields of every list that the server declares.
pub(super) async fn caching(client: &Client, findings: &mut Findings<'_>) {
    let capabilities = &client.server().capabilities;
    let mut lists = vec![(
        "server/discover",
        client.request("server/discover", ()).await,
    )];
    for (has, method) in [
        (capabilities.tools.is_some(), "tools/list"),
        (capabilities.prompts.is_some(), "prompts/list"),
        (capabilities.resources.is_some(), "resources/list"),
    ] {
        if has {
            lists.push((method, client.request(method, ()).await));
        }
    }
    for (method, said) in lists {
        let said: Value = match said {
            Ok(said) => said,
            Err(error) => {
                findings.note("caching", false, format!("{method}: {error}"));
                continue;
            }
        };
        match (said["ttlMs"].as_u64(), said["cacheScope"].as_str()) {
            (Some(ttl), Some(scope)) => {
                findings.note("caching", true, format!("{method}: {ttl} ms, {scope}"));
            }
            _ => findings.note(
                "caching",
                false,
                format!("{method}: ttlMs or cacheScope is missing, so clients keep nothing"),
            ),
        }
        if method == "tools/list" {
            headers(&said, findings);
        }
    }
}

/// Arguments that travel in header fields too, and those that cannot.
fn headers(said: &Value, findings: &mut Findings<'_>) {
    for tool in said["tools"].as_array().into_iter().flatten() {
        let Ok(tool) = serde_json::from_value::<Tool>(tool.clone()) else {
            let name = tool["name"].as_str().unwrap_or("(no name)");
            findings.note("headers", false, format!("{name}: cannot be read"));
            continue;
        };
        match ParamHeaders::of(&tool.input_schema) {
            Ok(headers) if headers.is_empty() => {}
            Ok(headers) => {
                let names: Vec<_> = headers.names().map(|name| name.as_str()).collect();
                findings.note(
                    "headers",
                    true,
                    format!("{}: {}", tool.name, names.join(", ")),
                );
            }
            Err(error) => {
                let left_out = "clients leave it out";
                findings.note(
                    "headers",
                    false,
                    format!("{}: {error}; {left_out}", tool.name),
                );
            }
        }
    }
}
