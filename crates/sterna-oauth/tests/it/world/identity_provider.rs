//! An enterprise's identity provider, as far as token exchange needs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use url::form_urlencoded;

use super::jose::{Jwt, TestKey};
use super::log::{Log, show_pairs};
use super::site::{Reply, serve};

/// Trades ID tokens for assertions.
pub(crate) struct IdentityServer {
    pub(crate) origin: String,
    key: Arc<TestKey>,
}

impl IdentityServer {
    /// `answers` is the `issued_token_type` it claims.
    pub(crate) async fn start(log: &Log, answers: &'static str) -> Self {
        let key = Arc::new(TestKey::generate());
        let (signer, seen) = (key.clone(), log.clone());
        let origin = serve(move |asked| {
            let (key, log) = (signer.clone(), seen.clone());
            async move {
                log.add(&format!(
                    "idp {} {}{}",
                    asked.method,
                    asked.path,
                    show_pairs(&asked.body)
                ));
                let origin = format!("http://{}", asked.header("host").unwrap());
                if asked.path == "/.well-known/openid-configuration" {
                    let token_endpoint = format!("{origin}/token");
                    let document = json!({"issuer": origin, "token_endpoint": token_endpoint});
                    return Reply::json(200, &document);
                }
                if asked.path != "/token" {
                    return Reply::status(404);
                }
                let form: BTreeMap<_, _> = form_urlencoded::parse(asked.body.as_bytes()).collect();
                let jwt = Jwt::parse(&form["subject_token"]).unwrap();
                if !jwt.is_signed_by(&key.public()) || jwt.claims["aud"] != *form["client_id"] {
                    return Reply::json(400, &json!({"error": "invalid_grant"}));
                }
                let claims = json!({
                    "iss": origin,
                    "aud": form["audience"],
                    "resource": form["resource"],
                    "sub": jwt.claims["sub"],
                });
                let assertion = key.sign(&claims);
                let document = json!({
                    "access_token": assertion,
                    "issued_token_type": answers,
                    "token_type": "N_A",
                });
                Reply::json(200, &document)
            }
        })
        .await;
        log.name(&origin, "idp");
        Self { origin, key }
    }

    /// The ID token of a user who has signed in to `client_id`.
    pub(crate) fn id_token(&self, client_id: &str) -> String {
        let claims = json!({"iss": self.origin, "aud": client_id, "sub": "alice"});
        self.key.sign(&claims)
    }

    pub(crate) fn public(&self) -> Vec<u8> {
        self.key.public()
    }
}
