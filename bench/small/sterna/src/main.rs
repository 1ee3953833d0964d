//! As small as a server gets.

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::{Cx, Server};

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

async fn echo(_: Cx<'_>, args: Message) -> String {
    args.message
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server::new("small", "1")
        .tool("echo", "Says the message again", echo)
        .serve("127.0.0.1:8080")
        .await?;
    Ok(())
}
