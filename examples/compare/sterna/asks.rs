//! Asks the user in the middle of a call.

use sterna::server::{Cx, Server, StartError, ToolError};

/// Deploys a service after asking why
#[sterna::tool]
async fn deploy(cx: Cx<'_>, service: String) -> Result<String, ToolError> {
    let reason: String = cx.ask("reason", format!("Why deploy {service}?")).await?;
    Ok(format!("{service} deployed: {reason}"))
}

#[tokio::main]
async fn main() -> Result<(), StartError> {
    Server::new("deployer", "1.0.0")
        .offer(deploy::tool())
        .stdio()
        .await
}
