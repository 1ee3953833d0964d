//! The same answers with axum on top of hyper.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bench::{Bare, listen};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let router = Router::new()
        .route("/mcp", post(answer))
        .with_state(Arc::new(Bare::new()?));
    axum::serve(listen()?, router)
        .with_graceful_shutdown(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    Ok(())
}

async fn answer(State(bare): State<Arc<Bare>>, body: Bytes) -> Response {
    match bare.answer(&body) {
        Some(answer) => ([(CONTENT_TYPE, "application/json")], answer).into_response(),
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}
