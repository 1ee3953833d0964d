//! An authorization server that gives out tokens for the servers behind a gateway.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use url::form_urlencoded;

/// Token endpoint that trades tokens, and gives the gateway one of its own.
pub(crate) struct Issuer {
    pub(crate) endpoint: String,
    state: Arc<IssuerState>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct IssuerState {
    asked: Mutex<Vec<BTreeMap<String, String>>>,
    /// Tokens that are not traded.
    refused: Mutex<Vec<String>>,
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(IssuerState::default());
        let app = axum::Router::new().route("/token", post(token));
        let app = app.with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/token", listener.local_addr().unwrap());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self {
            endpoint,
            state,
            _serving: serving,
        }
    }

    /// Refuses to trade `token` from here on.
    pub(crate) fn refuse(&self, token: &str) {
        self.state.refused.lock().unwrap().push(token.to_owned());
    }

    /// The forms of all requests.
    pub(crate) fn asked(&self) -> Vec<BTreeMap<String, String>> {
        self.state.asked.lock().unwrap().clone()
    }
}

/// Gives `for-SUBJECT` for the token `SUBJECT`, and `own` to the client itself.
async fn token(State(state): State<Arc<IssuerState>>, body: String) -> Response {
    let form: BTreeMap<String, String> = form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect();
    state.asked.lock().unwrap().push(form.clone());
    let access = match form["grant_type"].as_str() {
        "client_credentials" => "own".to_owned(),
        _ => format!("for-{}", form["subject_token"]),
    };
    let is_refused = |subject: &String| state.refused.lock().unwrap().contains(subject);
    if form.get("subject_token").is_some_and(is_refused) {
        let refusal = Json(json!({"error": "invalid_grant"}));
        return (StatusCode::BAD_REQUEST, refusal).into_response();
    }
    Json(json!({
        "access_token": access,
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "token_type": "Bearer",
        "expires_in": 3600,
    }))
    .into_response()
}
