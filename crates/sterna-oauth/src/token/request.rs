//! One request to a token endpoint.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};

use super::Scheme;
use super::dpop::{DPOP, DpopKey, Nonces, nonce};
use crate::client::Client;
use crate::discovery::AuthorizationServer;
use crate::document::Document;
use crate::error::Fault;
use crate::form::Form;
use crate::http::{Http, HttpResponse};

/// A token request, ready to be sent to the one server it is meant for.
#[derive(Debug)]
pub(crate) struct TokenRequest {
    pub(crate) server: Arc<AuthorizationServer>,
    pub(crate) client: Client,
    pub(crate) form: Form,
    pub(crate) dpop: Option<Arc<DpopKey>>,
}

impl TokenRequest {
    /// The kind of token it asks for.
    pub(crate) fn scheme(&self) -> Scheme {
        match self.dpop {
            Some(_) => Scheme::Dpop,
            None => Scheme::Bearer,
        }
    }

    /// Sends it; a second time if the server only wants its nonce in the proof.
    pub(crate) async fn send(&self, http: &Http, nonces: &Nonces) -> Result<Document, Fault> {
        let origin = self.server.token_endpoint.origin();
        let answer = self.send_once(http, nonces.of(&origin)).await?;
        nonces.learn(&origin, &answer.headers);
        match answer.granted() {
            Err(Fault::Refused { code, .. })
                if code == USE_DPOP_NONCE
                    && self.dpop.is_some()
                    && nonce(&answer.headers).is_some() =>
            {
                let answer = self.send_once(http, nonces.of(&origin)).await?;
                nonces.learn(&origin, &answer.headers);
                answer.granted()
            }
            outcome => outcome,
        }
    }

    async fn send_once(&self, http: &Http, nonce: Option<String>) -> Result<HttpResponse, Fault> {
        let endpoint = &self.server.token_endpoint;
        let mut headers = HeaderMap::new();
        let mut form = self.form.clone();
        let id = self.client.id.as_deref();
        self.client
            .auth
            .apply(id, &self.server, &mut form, &mut headers)?;
        if let Some(key) = &self.dpop {
            let proof = key.prove("POST", endpoint.url().as_str(), nonce.as_deref(), None)?;
            let proof = HeaderValue::from_str(&proof).expect("base64 and dots are visible");
            headers.insert(DPOP, proof);
        }
        let content_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        http.post(endpoint, headers, content_type, form.as_str())
            .await
    }
}

pub(crate) const USE_DPOP_NONCE: &str = "use_dpop_nonce";
