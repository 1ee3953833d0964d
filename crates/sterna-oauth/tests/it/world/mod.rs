//! An MCP server, its authorization servers and an identity provider, small but
//! real: they check PKCE, codes, clients, rotation, resources and proofs.

mod auth_server;
mod drawer;
mod identity_provider;
mod jose;
mod log;
mod mcp_server;
pub(crate) mod site;

use std::sync::Arc;

use http::{Method, Uri};
use sterna_oauth::{
    AuthorizationCode, Builder, ClientMetadata, Error, Grant, Headless, MemoryStore, OAuth,
    RetryDecision,
};

pub(crate) use auth_server::{AuthServer, Client, Granted, State};
pub(crate) use drawer::Drawer;
pub(crate) use identity_provider::IdentityServer;
pub(crate) use jose::TestKey;
pub(crate) use log::Log;
pub(crate) use mcp_server::McpServer;
pub(crate) use site::{Reply, serve};

/// Everything a client of one MCP server meets.
pub(crate) struct World {
    pub(crate) log: Log,
    pub(crate) mcp: McpServer,
    pub(crate) auth: AuthServer,
    pub(crate) store: Arc<MemoryStore>,
}

impl World {
    pub(crate) async fn start() -> Self {
        let log = Log::default();
        let auth = AuthServer::start("as", &log).await;
        let mcp = McpServer::start(&log, &auth).await;
        let store = Arc::new(MemoryStore::new());
        Self {
            log,
            mcp,
            auth,
            store,
        }
    }

    /// A user on this machine, with a client that registers itself.
    pub(crate) fn user(&self) -> OAuth {
        self.build(user())
    }

    pub(crate) fn build(&self, grant: impl Into<Grant>) -> OAuth {
        self.builder(grant).build().unwrap()
    }

    pub(crate) fn builder(&self, grant: impl Into<Grant>) -> Builder {
        OAuth::builder(self.mcp.url(), grant).store(self.store.clone())
    }

    /// Sends one request to the MCP server, as a transport would.
    pub(crate) async fn call(&self, oauth: &OAuth) -> Result<u16, Error> {
        call(oauth, &self.mcp.url()).await
    }

    /// Calls and shows how it ended.
    pub(crate) async fn outcome(&self, oauth: &OAuth) -> String {
        match self.call(oauth).await {
            Ok(status) => status.to_string(),
            Err(error) => self.log.scrub(&format!("{:?} {error}", error.kind())),
        }
    }
}

pub(crate) fn user() -> AuthorizationCode {
    AuthorizationCode::new(Headless::new(REDIRECT_URI))
        .dynamic_registration(ClientMetadata::new("Test"))
}

pub(crate) async fn call(oauth: &OAuth, url: &str) -> Result<u16, Error> {
    let uri: Uri = url.parse().unwrap();
    let mut attempt = oauth.attempt();
    loop {
        let fields = attempt.authorize(&Method::POST, &uri).await?;
        let request = site::client().post(url).headers(fields).body("{}");
        let answer = request.send().await.unwrap();
        let status = answer.status();
        if attempt.review(status, answer.headers()).await? == RetryDecision::Deliver {
            return Ok(status.as_u16());
        }
    }
}

pub(crate) const REDIRECT_URI: &str = "http://127.0.0.1:9/callback";
