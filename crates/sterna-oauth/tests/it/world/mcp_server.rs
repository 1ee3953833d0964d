//! An MCP server that only checks tokens.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::auth_server::AuthServer;
use super::jose::Proven;
use super::log::Log;
use super::site::{Asked, Reply, serve};

/// A protected MCP server at `/mcp`.
#[derive(Clone)]
pub(crate) struct McpServer {
    origin: String,
    rules: Arc<Mutex<Rules>>,
}

/// The behaviour of this MCP server.
pub(crate) struct Rules {
    pub(crate) trusted: Vec<AuthServer>,
    /// Path of the metadata.
    pub(crate) metadata_path: String,
    /// Changes to the metadata; `null` removes a member.
    pub(crate) metadata: Value,
    /// `true` if challenges point to the metadata.
    pub(crate) points: bool,
    /// The scheme that challenges name.
    pub(crate) scheme: &'static str,
    /// The scope that challenges name.
    pub(crate) challenge_scope: Option<&'static str>,
    /// The scope a token must have.
    pub(crate) needs_scope: Option<&'static str>,
    /// Refuses every token of every issuer.
    pub(crate) refuses_all: bool,
    /// Refuses tokens that come from a refresh.
    pub(crate) refuses_refreshed: bool,
    /// The nonce it wants in proofs.
    pub(crate) nonce: Option<&'static str>,
    seen_proofs: BTreeSet<String>,
}

impl McpServer {
    pub(crate) async fn start(log: &Log, auth: &AuthServer) -> Self {
        let rules = Arc::new(Mutex::new(Rules {
            trusted: vec![auth.clone()],
            metadata_path: "/.well-known/oauth-protected-resource/mcp".to_owned(),
            metadata: json!({}),
            points: true,
            scheme: "Bearer",
            challenge_scope: None,
            needs_scope: None,
            refuses_all: false,
            refuses_refreshed: false,
            nonce: None,
            seen_proofs: BTreeSet::new(),
        }));
        let origin = {
            let (rules, log) = (rules.clone(), log.clone());
            serve(move |asked| {
                let (rules, log) = (rules.clone(), log.clone());
                async move {
                    let shown = asked.header("authorization").unwrap_or_default().to_owned();
                    let line = format!("mcp {} {} {shown}", asked.method, asked.path);
                    let origin = format!("http://{}", asked.header("host").unwrap());
                    let reply = rules.lock().unwrap().answer(&asked, &origin);
                    log.add(&format!("{} -> {}", line.trim_end(), reply.status.as_u16()));
                    reply
                }
            })
            .await
        };
        log.name(&origin, "mcp");
        Self { origin, rules }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Rules)) {
        change(&mut self.rules.lock().unwrap());
    }
}

impl Rules {
    fn answer(&mut self, asked: &Asked, origin: &str) -> Reply {
        if asked.path == self.metadata_path {
            return Reply::json(200, &self.document(origin));
        }
        if asked.path != "/mcp" {
            return Reply::status(404);
        }
        match self.admit(asked, origin) {
            Ok(()) => Reply::status(200),
            Err((status, error)) => self.challenge(status, error, origin),
        }
    }

    fn document(&self, origin: &str) -> Value {
        let mut document = json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": self.trusted.iter().map(AuthServer::issuer).collect::<Vec<_>>(),
        });
        patch(&mut document, &self.metadata);
        document
    }

    fn admit(&mut self, asked: &Asked, origin: &str) -> Result<(), (u16, Option<&'static str>)> {
        let shown = asked
            .header("authorization")
            .and_then(|a| a.split_once(' '));
        let (scheme, token) = shown.ok_or((401, None))?;
        let found = self.trusted.iter().find_map(|auth| auth.token(token));
        let grant = found.ok_or((401, Some("invalid_token")))?;
        let resource = self.document(origin)["resource"].clone();
        let refused = self.refuses_all || (self.refuses_refreshed && grant.refreshed);
        if refused || resource != *grant.resource {
            return Err((401, Some("invalid_token")));
        }
        if let Some(thumbprint) = &grant.thumbprint {
            if scheme != "DPoP" {
                return Err((401, Some("invalid_token")));
            }
            self.check_proof(asked, origin, token, thumbprint)?;
        }
        match self.needs_scope {
            Some(scope) if !grant.scope.split(' ').any(|own| own == scope) => {
                Err((403, Some("insufficient_scope")))
            }
            _ => Ok(()),
        }
    }

    fn check_proof(
        &mut self,
        asked: &Asked,
        origin: &str,
        token: &str,
        thumbprint: &str,
    ) -> Result<(), (u16, Option<&'static str>)> {
        let proven = Proven {
            method: &asked.method,
            url: &format!("{origin}/mcp"),
            token: Some(token),
        };
        let bad = (401, Some("invalid_dpop_proof"));
        let (jwt, found) = proven.check(asked.header("dpop")).map_err(|_| bad)?;
        let fresh = self.seen_proofs.insert(jwt.claims["jti"].to_string());
        if found != thumbprint || !fresh {
            return Err(bad);
        }
        match self.nonce {
            Some(nonce) if jwt.claims["nonce"] != nonce => Err((401, Some("use_dpop_nonce"))),
            _ => Ok(()),
        }
    }

    fn challenge(&self, status: u16, error: Option<&str>, origin: &str) -> Reply {
        let pointer = format!("{origin}{}", self.metadata_path);
        let parameters = [
            ("error", error),
            ("scope", self.challenge_scope),
            ("resource_metadata", self.points.then_some(pointer.as_str())),
        ];
        let parameters: Vec<_> = parameters
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}=\"{}\"", value?)))
            .collect();
        let challenge = format!("{} {}", self.scheme, parameters.join(", "));
        let reply = Reply::status(status).with("www-authenticate", challenge.trim_end());
        match self.nonce {
            Some(nonce) => reply.with("dpop-nonce", nonce),
            None => reply,
        }
    }
}

/// Merges `change` into `document`; `null` removes a member.
pub(crate) fn patch(document: &mut Value, change: &Value) {
    let change = change.as_object().unwrap();
    for (name, value) in change {
        let members = document.as_object_mut().unwrap();
        match value {
            Value::Null => members.remove(name),
            value => members.insert(name.clone(), value.clone()),
        };
    }
}
