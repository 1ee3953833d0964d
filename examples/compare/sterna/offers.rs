//! Has a prompt, a resource and a template of resources.

use sterna::server::{RequestError, Server, StartError};

/// Asks for a review of code
#[sterna::prompt]
fn review(
    /// The code to look at
    code: String,
) -> String {
    format!("Review this code:\n{code}")
}

/// Colours of the house
#[sterna::resource(uri = "paint://colours", mime_type = "text/plain")]
fn colours() -> &'static str {
    "red, white"
}

/// One wall of the house
#[sterna::resource(uri = "paint://walls/{number}", mime_type = "text/plain")]
fn wall(number: u32) -> Result<String, RequestError> {
    match number {
        1..=4 => Ok(format!("Wall {number} is white.")),
        _ => Err(RequestError::not_found(&format!("paint://walls/{number}"))),
    }
}

#[tokio::main]
async fn main() -> Result<(), StartError> {
    Server::new("house", "1.0.0")
        .offer(review::prompt())
        .offer(colours::resource())
        .offer(wall::resource())
        .stdio()
        .await
}
