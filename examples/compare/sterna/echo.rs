//! Repeats a text.

use sterna::server::{Server, StartError};

/// Repeats a text
#[sterna::tool]
fn echo(text: String) -> String {
    text
}

#[tokio::main]
async fn main() -> Result<(), StartError> {
    Server::new("echo", "1.0.0")
        .offer(echo::tool())
        .stdio()
        .await
}
