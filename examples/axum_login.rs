//! MCP inside an axum application: a layer of the application knows who is
//! logged in, and one line makes that user the caller. A call belongs to the
//! user who began it: Bob cannot go on with Ada's, even with all that her client
//! carries.
//!
//! ```text
//! $ cargo run --bin axum_login
//! client: transfer {"amount":100}
//! server: purpose? "What are 100 from the account of ada for?"
//! client: {"purpose":{"purpose":"rent"}}
//! Bob sends the same request in his session.
//! server: error "Invalid or expired requestState"
//! Ada sends it in hers.
//! server: "Transferred 100 from the account of ada for rent"
//! ```

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use examples::{Conversation, keys, say};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sterna_server::auth::Principal;
use sterna_server::{Cx, Server, ToolError};

#[derive(Clone)]
struct User {
    name: &'static str,
}

/// Stands for a session store: says whose session it is, and refuses others.
async fn log_in(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let session = request.headers().get("x-session");
    let name = match session.and_then(|session| session.to_str().ok()) {
        Some("5af3") => "ada",
        Some("c01d") => "bob",
        _ => return Err(StatusCode::UNAUTHORIZED),
    };
    request.extensions_mut().insert(User { name });
    Ok(next.run(request).await)
}

#[derive(Deserialize, JsonSchema)]
struct Transfer {
    amount: u32,
}

async fn transfer(cx: Cx<'_>, args: Transfer) -> Result<String, ToolError> {
    let owner = cx.caller().principal().subject().unwrap_or_default();
    let what = format!("{} from the account of {owner}", args.amount);
    let purpose: String = cx.ask("purpose", format!("What are {what} for?")).await?;
    Ok(format!("Transferred {what} for {purpose}"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server::new("bank", env!("CARGO_PKG_VERSION"))
        .tool("transfer", "Transfers money after asking why", transfer)
        .callers_from_extension(|user: &User| Principal::named("bank", user.name))
        .keys(keys()?);
    let app: Router = Router::new()
        .route_service("/mcp", server.build()?.into_tower()?)
        .layer(middleware::from_fn(log_in));

    let ada = Conversation::begin("transfer", json!({"amount": 100}))?;
    let mut ada = ada.in_session("5af3");
    ada.round(&app).await?;
    ada.answer(json!({"purpose": {"purpose": "rent"}}))?;

    say("Bob sends the same request in his session.")?;
    ada.clone().in_session("c01d").round(&app).await?;
    say("Ada sends it in hers.")?;
    ada.round(&app).await
}
