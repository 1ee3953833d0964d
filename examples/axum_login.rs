//! MCP inside an axum application: the layer that knows who is logged in puts
//! the user into the request, and the tool finds them there.
//!
//! ```text
//! $ cargo run --bin axum_login
//! client: whoami {}
//! server: "You are ada"
//! ```

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use examples::{Conversation, keys};
use serde_json::json;
use sterna_server::{Cx, Server};

#[derive(Clone)]
struct User {
    name: String,
}

/// Stands for a session store, a cookie, a header of a trusted proxy.
async fn log_in(mut request: Request, next: Next) -> Response {
    let name = "ada".to_owned();
    request.extensions_mut().insert(User { name });
    next.run(request).await
}

async fn whoami(cx: Cx<'_>, (): ()) -> String {
    match cx.extensions().get::<User>() {
        Some(user) => format!("You are {}", user.name),
        None => "You are nobody".to_owned(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server::new("inside", env!("CARGO_PKG_VERSION"))
        .tool("whoami", "Says who is logged in", whoami)
        .keys(keys()?);
    let app: Router = Router::new()
        .route_service("/mcp", server.build()?.into_tower()?)
        .layer(middleware::from_fn(log_in));

    let mut call = Conversation::begin("whoami", json!({}))?;
    call.round(&app).await
}
