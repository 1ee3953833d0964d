//! An authorization server that checks what real ones check.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::Notify;
use url::{Url, form_urlencoded};

use super::jose::{Jwt, Proven, hash};
use super::log::{Log, show_pairs};
use super::mcp_server::patch;
use super::site::{Asked, Reply, serve};

/// An authorization server with its own clients, codes and tokens.
#[derive(Clone)]
pub(crate) struct AuthServer {
    origin: String,
    state: Arc<Mutex<State>>,
}

/// The behaviour of this authorization server, and the tokens it has issued.
pub(crate) struct State {
    /// The path of the issuer.
    pub(crate) issuer_path: &'static str,
    /// Path of the metadata.
    pub(crate) metadata_path: String,
    /// Changes to the metadata; `null` removes a member.
    pub(crate) metadata: Value,
    /// Changes to the redirect; `null` removes a parameter.
    pub(crate) redirect: Value,
    /// Changes to registration responses; `null` removes a member.
    pub(crate) registration: Value,
    /// Changes to token responses; `null` removes a member.
    pub(crate) token: Value,
    /// A status and an error code to answer registrations or token requests with.
    pub(crate) registration_error: Option<(u16, &'static str)>,
    pub(crate) token_error: Option<(u16, &'static str)>,
    pub(crate) issues_refresh_tokens: bool,
    /// `true` if a refresh token works once only.
    pub(crate) rotates: bool,
    /// The nonce it wants in proofs.
    pub(crate) nonce: Option<&'static str>,
    /// Token requests say that they have arrived, then wait to be let go.
    pub(crate) gate: Option<(Arc<Notify>, Arc<Notify>)>,
    pub(crate) clients: BTreeMap<String, Client>,
    /// The key that assertions of `jwt-bearer` grants are signed with.
    pub(crate) assertion_key: Option<Vec<u8>>,
    codes: BTreeMap<String, Pending>,
    refresh_tokens: BTreeMap<String, Granted>,
    tokens: BTreeMap<String, Granted>,
    /// Number of tokens issued; part of the next one's name.
    pub(crate) issued: usize,
}

/// A registered client.
#[derive(Clone, Default)]
pub(crate) struct Client {
    pub(crate) secret: Option<String>,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) redirect_uri: String,
}

struct Pending {
    query: BTreeMap<String, String>,
}

/// The grant behind a token.
#[derive(Clone)]
pub(crate) struct Granted {
    pub(crate) client: String,
    pub(crate) resource: String,
    pub(crate) scope: String,
    pub(crate) thumbprint: Option<String>,
    /// It came from a refresh token.
    pub(crate) refreshed: bool,
}

impl AuthServer {
    pub(crate) async fn start(name: &'static str, log: &Log) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let origin = {
            let (state, log) = (state.clone(), log.clone());
            serve(move |asked| {
                let (state, log) = (state.clone(), log.clone());
                async move {
                    let line = describe(name, &asked);
                    let gate = state.lock().unwrap().gate.clone();
                    if let Some((arrived, go)) = gate.filter(|_| asked.path.ends_with("/token")) {
                        arrived.notify_one();
                        go.notified().await;
                    }
                    let origin = format!("http://{}", asked.header("host").unwrap());
                    let reply = state.lock().unwrap().answer(&asked, &origin);
                    log.add(&format!("{line} -> {}", reply.status.as_u16()));
                    reply
                }
            })
            .await
        };
        log.name(&origin, name);
        Self { origin, state }
    }

    pub(crate) fn issuer(&self) -> String {
        let state = self.state.lock().unwrap();
        format!("{}{}", self.origin, state.issuer_path)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    pub(crate) fn token(&self, token: &str) -> Option<Granted> {
        self.state.lock().unwrap().tokens.get(token).cloned()
    }

    /// Makes every access token invalid, as if its time had come.
    pub(crate) fn expire_tokens(&self) {
        self.state.lock().unwrap().tokens.clear();
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            issuer_path: "",
            metadata_path: "/.well-known/oauth-authorization-server".to_owned(),
            metadata: json!({}),
            redirect: json!({}),
            registration: json!({}),
            token: json!({}),
            registration_error: None,
            token_error: None,
            issues_refresh_tokens: false,
            rotates: true,
            nonce: None,
            gate: None,
            clients: BTreeMap::new(),
            assertion_key: None,
            codes: BTreeMap::new(),
            refresh_tokens: BTreeMap::new(),
            tokens: BTreeMap::new(),
            issued: 0,
        }
    }
}

type Pairs = BTreeMap<String, String>;

/// A status and an OAuth error code.
type Refusal = (u16, &'static str);

impl State {
    /// Makes tokens known that a test has made up.
    pub(crate) fn remember(&mut self, access: &str, refresh: &str, granted: Granted) {
        self.tokens.insert(access.to_owned(), granted.clone());
        self.refresh_tokens.insert(refresh.to_owned(), granted);
    }

    /// Ends every session there is.
    pub(crate) fn revoke(&mut self) {
        self.refresh_tokens.clear();
        self.tokens.clear();
    }

    fn answer(&mut self, asked: &Asked, origin: &str) -> Reply {
        let path = &*asked.path;
        if path == self.metadata_path {
            return Reply::json(200, &self.document(origin));
        }
        match path.strip_prefix(self.issuer_path).unwrap_or_default() {
            "/authorize" => self.authorize(pairs(&asked.query), origin),
            "/register" => self.register(asked),
            "/token" => match self.grant(asked, origin) {
                Ok(document) => Reply::json(200, &document),
                Err((status, error)) => self.refuse(status, error),
            },
            _ => Reply::status(404),
        }
    }

    fn document(&self, origin: &str) -> Value {
        let base = format!("{origin}{}", self.issuer_path);
        let mut document = json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": true,
        });
        patch(&mut document, &self.metadata);
        document
    }

    fn register(&mut self, asked: &Asked) -> Reply {
        if let Some((status, error)) = self.registration_error {
            return self.refuse(status, error);
        }
        let request: Value = serde_json::from_str(&asked.body).unwrap();
        let id = self.fresh("client");
        let public = request["token_endpoint_auth_method"] == "none";
        let secret = (!public).then(|| self.fresh("secret"));
        let mut response = request.clone();
        response["client_id"] = json!(id);
        if let Some(secret) = &secret {
            response["client_secret"] = json!(secret);
        }
        patch(&mut response, &self.registration);
        let client = Client {
            secret: response["client_secret"].as_str().map(str::to_owned),
            key: None,
            redirect_uri: request["redirect_uris"][0].as_str().unwrap().to_owned(),
        };
        self.clients.insert(id, client);
        Reply::json(201, &response)
    }

    fn authorize(&mut self, query: Pairs, origin: &str) -> Reply {
        let client = query.get("client_id").and_then(|id| self.clients.get(id));
        let redirect_uri = query.get("redirect_uri").cloned().unwrap_or_default();
        if client.is_none_or(|client| client.redirect_uri != redirect_uri) {
            return Reply::status(400).body("unknown client or redirect URI");
        }
        if query.get("code_challenge_method").map(String::as_str) != Some("S256") {
            return Reply::status(400).body("no PKCE");
        }
        let code = self.fresh("code");
        let mut answer = json!({
            "code": code,
            "state": query.get("state"),
            "iss": format!("{origin}{}", self.issuer_path),
        });
        patch(&mut answer, &self.redirect);
        self.codes.insert(code, Pending { query });
        let mut target = Url::parse(&redirect_uri).unwrap();
        for (name, value) in answer.as_object().unwrap() {
            target
                .query_pairs_mut()
                .append_pair(name, value.as_str().unwrap());
        }
        Reply::redirect(target)
    }

    fn grant(&mut self, asked: &Asked, origin: &str) -> Result<Value, Refusal> {
        if let Some(refusal) = self.token_error {
            return Err(refusal);
        }
        let form = pairs(&asked.body);
        let client = self.authenticate(asked, &form, origin)?;
        let thumbprint = self.check_proof(asked, origin)?;
        let get = |name| form.get(name).cloned().unwrap_or_default();
        let asked_for = Granted {
            client: client.clone(),
            resource: get("resource"),
            scope: get("scope"),
            thumbprint,
            refreshed: false,
        };
        let granted = match &*get("grant_type") {
            "authorization_code" => self.redeem_code(&form, asked_for)?,
            "refresh_token" => self.redeem_refresh_token(&get("refresh_token"), asked_for)?,
            "client_credentials" if !client.is_empty() => asked_for,
            "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
                let jwt = Jwt::parse(&get("assertion")).ok_or((400, "invalid_grant"))?;
                let key = self.assertion_key.as_deref().unwrap_or_default();
                let audience = format!("{origin}{}", self.issuer_path);
                if !jwt.is_signed_by(key) || jwt.claims["aud"] != audience {
                    return Err((400, "invalid_grant"));
                }
                asked_for
            }
            "urn:ietf:params:oauth:grant-type:token-exchange" => {
                let jwt = Jwt::parse(&get("subject_token")).ok_or((400, "invalid_grant"))?;
                if !jwt.is_signed_by(self.assertion_key.as_deref().unwrap_or_default()) {
                    return Err((400, "invalid_grant"));
                }
                let resource = match form.get("audience") {
                    Some(audience) => audience.clone(),
                    None => asked_for.resource,
                };
                Granted {
                    resource,
                    ..asked_for
                }
            }
            _ => return Err((400, "unsupported_grant_type")),
        };
        Ok(self.issue(granted))
    }

    fn authenticate(&self, asked: &Asked, form: &Pairs, origin: &str) -> Result<String, Refusal> {
        let refused = (401, "invalid_client");
        let known = |id: &str| self.clients.get(id).ok_or(refused);
        let basic = asked
            .header("authorization")
            .and_then(|a| a.strip_prefix("Basic "));
        if let Some(basic) = basic {
            let pair = String::from_utf8(STANDARD.decode(basic).unwrap()).unwrap();
            let (id, secret) = pair.split_once(':').unwrap();
            let decode = |text: &str| {
                let (text, _) = form_urlencoded::parse(text.as_bytes()).next().unwrap();
                text.into_owned()
            };
            let (id, secret) = (decode(id), decode(secret));
            let right = known(&id)?.secret.as_deref() == Some(&*secret);
            return right.then_some(id).ok_or(refused);
        }
        if let Some(assertion) = form.get("client_assertion") {
            let jwt = Jwt::parse(assertion).ok_or(refused)?;
            let id = jwt.claims["iss"].as_str().unwrap_or_default();
            let key = known(id)?.key.as_deref().ok_or(refused)?;
            let aud = format!("{origin}{}", self.issuer_path);
            let right =
                jwt.is_signed_by(key) && jwt.claims["sub"] == id && jwt.claims["aud"] == aud;
            return right.then(|| id.to_owned()).ok_or(refused);
        }
        let Some(id) = form.get("client_id") else {
            // Only an assertion can speak for a user who is not a client.
            return form
                .contains_key("assertion")
                .then(String::new)
                .ok_or(refused);
        };
        let right = known(id)?.secret.as_ref() == form.get("client_secret");
        right.then(|| id.clone()).ok_or(refused)
    }

    fn check_proof(&self, asked: &Asked, origin: &str) -> Result<Option<String>, Refusal> {
        let Some(proof) = asked.header("dpop") else {
            return Ok(None);
        };
        let url = format!("{origin}{}", asked.path);
        let proven = Proven {
            method: "POST",
            url: &url,
            token: None,
        };
        let bad = (400, "invalid_dpop_proof");
        let (jwt, thumbprint) = proven.check(Some(proof)).map_err(|_| bad)?;
        match self.nonce {
            Some(nonce) if jwt.claims["nonce"] != nonce => Err((400, "use_dpop_nonce")),
            _ => Ok(Some(thumbprint)),
        }
    }

    fn redeem_code(&mut self, form: &Pairs, asked_for: Granted) -> Result<Granted, Refusal> {
        let refused = (400, "invalid_grant");
        let code = form.get("code").ok_or(refused)?;
        let Pending { query } = self.codes.remove(code).ok_or(refused)?;
        let verifier = form.get("code_verifier").ok_or(refused)?;
        let same = |name| query.get(name) == form.get(name);
        let challenged = query.get("code_challenge") == Some(&hash(verifier));
        let bound = query.get("dpop_jkt") == asked_for.thumbprint.as_ref();
        let ours = query.get("client_id") == Some(&asked_for.client);
        if !challenged || !bound || !ours || !same("redirect_uri") || !same("resource") {
            return Err(refused);
        }
        let scope = query.get("scope").cloned().unwrap_or_default();
        Ok(Granted { scope, ..asked_for })
    }

    /// Each refresh token works once; a second use ends the whole family.
    fn redeem_refresh_token(&mut self, token: &str, asked: Granted) -> Result<Granted, Refusal> {
        let Some(granted) = self.refresh_tokens.remove(token) else {
            self.revoke();
            return Err((400, "invalid_grant"));
        };
        let same = granted.client == asked.client
            && granted.resource == asked.resource
            && granted.thumbprint == asked.thumbprint;
        if !self.rotates {
            self.refresh_tokens
                .insert(token.to_owned(), granted.clone());
        }
        let refreshed = Granted {
            refreshed: true,
            ..granted
        };
        same.then_some(refreshed).ok_or((400, "invalid_grant"))
    }

    fn issue(&mut self, granted: Granted) -> Value {
        let kind = if granted.thumbprint.is_some() {
            "DPoP"
        } else {
            "Bearer"
        };
        let access = self.fresh("at");
        let mut document = json!({
            "access_token": access,
            "token_type": kind,
            "expires_in": 3600,
        });
        if self.issues_refresh_tokens && (self.rotates || self.refresh_tokens.is_empty()) {
            let refresh = self.fresh("rt");
            document["refresh_token"] = json!(refresh);
            self.refresh_tokens.insert(refresh, granted.clone());
        }
        self.tokens.insert(access, granted);
        patch(&mut document, &self.token);
        document
    }

    fn refuse(&self, status: u16, error: &str) -> Reply {
        let document = json!({"error": error, "error_description": format!("because {error}")});
        let reply = Reply::json(status, &document);
        match self.nonce {
            Some(nonce) => reply.with("dpop-nonce", nonce),
            None => reply,
        }
    }

    fn fresh(&mut self, kind: &str) -> String {
        self.issued += 1;
        format!("{kind}-{}", self.issued)
    }
}

fn describe(name: &str, asked: &Asked) -> String {
    let basic = asked
        .header("authorization")
        .and_then(|a| a.strip_prefix("Basic "));
    let basic = basic.map(|b| String::from_utf8(STANDARD.decode(b).unwrap()).unwrap());
    let basic = basic.map(|pair| format!(" [{pair}]")).unwrap_or_default();
    let proof = asked.header("dpop").map_or("", |_| " [proof]");
    let body = match asked.body.starts_with('{') {
        true => format!(" {}", asked.body),
        false => show_pairs(&asked.body),
    };
    let query = show_pairs(&asked.query);
    format!(
        "{name} {} {}{query}{basic}{proof}{body}",
        asked.method, asked.path
    )
}

fn pairs(encoded: &str) -> Pairs {
    form_urlencoded::parse(encoded.as_bytes())
        .into_owned()
        .collect()
}
