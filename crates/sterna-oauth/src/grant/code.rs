//! The authorization code flow: a user signs in with a browser.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use tokio::time::timeout;
use url::Url;

use super::redirect::ExpectedRedirect;
use super::{GrantContext, TokenSpec};
use crate::agent::UserAgent;
use crate::client::{
    Client, ClientAuth, ClientMetadata, DynamicRegistration, Registration, SigningKey,
    is_document_url,
};
use crate::clock::UnixSeconds;
use crate::endpoint::{Endpoint, is_redirect_uri};
use crate::error::{At, Error, Fault, Step};
use crate::printable::printable;
use crate::scope::Scopes;
use crate::secret::{Secret, random_token};
use crate::token::{DpopKey, TokenRequest};

/// A user who signs in with a browser.
///
/// The client must be known to the authorization server in one of three ways,
/// tried in this order: registered beforehand, by its metadata document, or by
/// registering itself on the spot. Configure those that fit; an authorization
/// server that none of them fits is an error.
#[derive(Clone)]
pub struct AuthorizationCode {
    agent: Arc<dyn UserAgent>,
    document: Option<(String, ClientAuth)>,
    dynamic: Option<ClientMetadata>,
    pub(super) registrations: Vec<Registration>,
}

impl AuthorizationCode {
    /// Lets `agent` take the user to the authorization server and back.
    pub fn new(agent: impl UserAgent + 'static) -> Self {
        Self {
            agent: Arc::new(agent),
            document: None,
            dynamic: None,
            registrations: Vec::new(),
        }
    }

    /// Uses a client that was registered beforehand, at its own issuer only.
    #[must_use]
    pub fn registered(mut self, registration: Registration) -> Self {
        self.registrations.push(registration);
        self
    }

    /// Uses the public client whose Client ID Metadata Document is at `url`, at
    /// issuers that support it.
    ///
    /// [`ClientMetadata::to_document`] makes the document.
    #[must_use]
    pub fn metadata_document(mut self, url: impl Into<String>) -> Self {
        self.document = Some((url.into(), ClientAuth::none()));
        self
    }

    /// Uses the client whose Client ID Metadata Document is at `url` and names
    /// the public half of `key`, at issuers that support it.
    #[must_use]
    pub fn keyed_metadata_document(mut self, url: impl Into<String>, key: SigningKey) -> Self {
        self.document = Some((url.into(), ClientAuth::key(key)));
        self
    }

    /// Registers the client on the spot, at issuers that allow it.
    #[must_use]
    pub fn dynamic_registration(mut self, metadata: ClientMetadata) -> Self {
        self.dynamic = Some(metadata);
        self
    }

    /// Refuses a client id that no server can accept, before anything is sent.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        match &self.document {
            Some((url, _)) if !is_document_url(url) => Err(Fault::Url {
                what: "metadata document",
                url: printable(url),
                why: "is not https with a path",
            }),
            _ => Ok(()),
        }
    }

    pub(super) async fn prepare(
        &self,
        context: &GrantContext,
        spec: &TokenSpec,
    ) -> Result<TokenRequest, Error> {
        let server = &spec.server;
        // AUTHSEC-C4: asked first, so that a server without PKCE learns nothing of us.
        let endpoint = server.authorization_endpoint(&context.http);
        let endpoint = endpoint.at(Step::ServerMetadata)?;
        let redirect_uri = self.redirect_uri().await.at(Step::Authorization)?;
        let client = self.client(context, spec, &redirect_uri).await?;
        let verifier = Secret::from(random_token().at(Step::Authorization)?);
        let key = spec.key().at(Step::Authorization)?;
        let expected = ExpectedRedirect {
            state: Secret::from(random_token().at(Step::Authorization)?),
            issuer: server.issuer.clone(),
            names_itself: server.names_itself,
            redirect_uri,
        };
        let id = client.id.as_deref().unwrap_or_default();
        let url = authorization_url(&endpoint, spec, id, &expected, &verifier, key.as_deref());
        let redirect = timeout(context.config.user_timeout, self.agent.visit(url.as_str())).await;
        let code = match redirect {
            Ok(Ok(redirect)) => expected.code(&redirect),
            Ok(Err(error)) => Err(Fault::Agent(error)),
            Err(_) => Err(Fault::UserTimeout),
        };
        let mut form = super::Form::new("authorization_code");
        form.add("code", code.at(Step::Authorization)?.expose());
        form.add("code_verifier", verifier.expose());
        form.add("redirect_uri", &expected.redirect_uri);
        form.add("resource", &spec.resource);
        Ok(TokenRequest {
            server: server.clone(),
            client,
            form,
            dpop: key,
        })
    }

    async fn redirect_uri(&self) -> Result<String, Fault> {
        let uri = self.agent.redirect_uri().await.map_err(Fault::Agent)?;
        match is_redirect_uri(&uri) {
            true => Ok(uri),
            false => Err(Fault::RedirectUri {
                uri: printable(&uri),
            }),
        }
    }

    /// Finds out as whom to appear, in the order that the specification recommends.
    async fn client(
        &self,
        context: &GrantContext,
        spec: &TokenSpec,
        redirect_uri: &str,
    ) -> Result<Client, Error> {
        let server = &spec.server;
        let issuer = &server.issuer;
        // REG-C1: the order is that of the specification.
        let registered = self.registrations.iter().find(|own| own.belongs_to(issuer));
        if let Some(registration) = registered {
            return Ok(Client::registered(registration));
        }
        if let Some((url, auth)) = &self.document
            && server.takes_metadata_documents
        {
            return Ok(Client::documented(url, auth));
        }
        let endpoint = server.registration_endpoint(&context.http);
        let endpoint = endpoint.at(Step::ServerMetadata)?;
        if let (Some(metadata), Some(endpoint)) = (&self.dynamic, endpoint) {
            let stored = context.records.client(issuer).await?;
            let now = UnixSeconds::now();
            if let Some(dynamic) = stored.filter(|own| own.serves(redirect_uri, now)) {
                return Ok(Client::from(dynamic));
            }
            let http = &context.http;
            let dynamic =
                DynamicRegistration::register(http, server, &endpoint, metadata, redirect_uri)
                    .await;
            let dynamic = dynamic.at(Step::Registration)?;
            context.records.save_client(issuer, &dynamic).await?;
            return Ok(Client::from(dynamic));
        }
        let fault = match self.registrations.first() {
            Some(registration) => registration.mismatch(issuer),
            None => Fault::NoClient {
                issuer: printable(issuer),
            },
        };
        Err(Error::new(Step::Registration, fault))
    }

    pub(super) fn configured(&self, issuer: &str, id: Option<&str>) -> Option<ClientAuth> {
        let own = |registration: &&Registration| {
            registration.client_id.as_deref() == id && registration.belongs_to(issuer)
        };
        let registered = self.registrations.iter().find(own);
        let document = self
            .document
            .as_ref()
            .filter(|(url, _)| Some(url.as_str()) == id);
        registered
            .map(|registration| registration.auth.clone())
            .or_else(|| document.map(|(_, auth)| auth.clone()))
    }
}

impl From<AuthorizationCode> for super::Grant {
    fn from(code: AuthorizationCode) -> Self {
        Self::AuthorizationCode(code)
    }
}

impl fmt::Debug for AuthorizationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationCode")
            .field("registrations", &self.registrations)
            .field("document", &self.document)
            .field("dynamic", &self.dynamic)
            .finish_non_exhaustive()
    }
}

fn authorization_url(
    endpoint: &Endpoint,
    spec: &TokenSpec,
    client_id: &str,
    expected: &ExpectedRedirect,
    verifier: &Secret,
    key: Option<&DpopKey>,
) -> Url {
    let challenge = digest(&SHA256, verifier.expose().as_bytes());
    let scopes = with_offline_access(spec);
    let mut url = endpoint.url().clone();
    let mut query = url.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", client_id)
        .append_pair("redirect_uri", &expected.redirect_uri)
        .append_pair("state", expected.state.expose())
        .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(challenge))
        .append_pair("code_challenge_method", "S256")
        .append_pair("resource", &spec.resource);
    if let Some(scope) = scopes.to_parameter() {
        query.append_pair("scope", &scope);
    }
    if scopes.contains(OFFLINE_ACCESS) {
        // OpenID Connect ignores the scope unless the user is asked for it.
        query.append_pair("prompt", "consent");
    }
    if let Some(key) = key {
        query.append_pair("dpop_jkt", &key.thumbprint());
    }
    drop(query);
    url
}

/// Asks for a refresh token where that takes a scope of its own.
///
/// Not if nothing else is asked for: an absent `scope` means the server's
/// default, which must not be replaced.
fn with_offline_access(spec: &TokenSpec) -> Scopes {
    let offered = spec.server.scopes.as_ref();
    let offered = offered.is_some_and(|scopes| scopes.contains(OFFLINE_ACCESS));
    match offered && !spec.scopes.is_empty() {
        true => spec.scopes.clone().with(OFFLINE_ACCESS),
        false => spec.scopes.clone(),
    }
}

pub(crate) const OFFLINE_ACCESS: &str = "offline_access";
