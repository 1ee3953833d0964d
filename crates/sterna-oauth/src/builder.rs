//! Putting an [`OAuth`] value together.

use std::fmt;
use std::sync::Arc;

use crate::attempt::Attempt;
use crate::config::Config;
use crate::discovery::{ServerUrl, TokenIssuer};
use crate::endpoint::Reach;
use crate::error::{At, Error, Fault, Step};
use crate::grant::{Grant, GrantContext};
use crate::http::Http;
use crate::scope::Scopes;
use crate::store::{CredentialRecords, CredentialStore, MemoryStore};
use crate::token::Nonces;
use crate::token_manager::TokenManager;

/// The authorization of requests to one MCP server.
///
/// Cheap to clone; clones share their tokens. See the [module](super) for how a
/// transport uses it.
#[derive(Clone, Debug)]
pub struct OAuth {
    manager: Arc<TokenManager>,
}

impl OAuth {
    /// Starts with the MCP server's URL, exactly as requests will use it, and
    /// the way to its tokens.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_oauth::{ClientAuth, ClientCredentials, OAuth, Registration};
    ///
    /// let client = Registration::new("https://as.example", "my-client", ClientAuth::secret("s3cret"));
    /// let oauth = OAuth::builder("https://mcp.example/mcp", ClientCredentials::new(client)).build()?;
    /// # Ok::<_, sterna_oauth::Error>(())
    /// ```
    pub fn builder(server_url: impl Into<String>, grant: impl Into<Grant>) -> Builder {
        Builder {
            server_url: server_url.into(),
            grant: grant.into(),
            issuer: None,
            config: Config::default(),
            scopes: None,
            store: Arc::new(MemoryStore::new()),
        }
    }

    /// Begins a request to the MCP server.
    pub fn attempt(&self) -> Attempt {
        Attempt::new(self.manager.clone())
    }

    /// Forgets the tokens and a dynamic registration, here and in the store.
    ///
    /// The next request that needs a token starts from the beginning.
    ///
    /// # Errors
    ///
    /// The credential store failed; something may be left in it.
    pub async fn forget(&self) -> Result<(), Error> {
        self.manager.forget().await
    }
}

/// Settings of an [`OAuth`] value; [`build`](Self::build) makes it.
#[must_use]
pub struct Builder {
    server_url: String,
    grant: Grant,
    issuer: Option<TokenIssuer>,
    config: Config,
    scopes: Option<Scopes>,
    store: Arc<dyn CredentialStore>,
}

impl Builder {
    /// Sets limits and policies.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Gets tokens from `issuer`, whatever the MCP server says.
    ///
    /// The MCP server is not asked for metadata. A grant that needs no person gets
    /// its token before the first request, so the MCP server need not challenge
    /// either.
    pub fn issuer(mut self, issuer: TokenIssuer) -> Self {
        self.issuer = Some(issuer);
        self
    }

    /// Asks for these scopes in place of those that the server lists.
    ///
    /// Scopes that a challenge names are always asked for.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = Some(scopes.into_iter().collect());
        self
    }

    /// Keeps credentials in `store` instead of in memory.
    pub fn store(mut self, store: Arc<dyn CredentialStore>) -> Self {
        self.store = store;
        self
    }

    /// Checks the settings; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the server's URL or that of a metadata document
    /// cannot be used; [`ErrorKind::Internal`](crate::ErrorKind::Internal) if this machine has no CA
    /// certificates.
    pub fn build(self) -> Result<OAuth, Error> {
        self.assemble().at(Step::Setup)
    }

    fn assemble(self) -> Result<OAuth, Fault> {
        let server = ServerUrl::parse(self.server_url)?;
        if let Grant::AuthorizationCode(code) = &self.grant {
            code.check()?;
        }
        if self.issuer.is_none() && matches!(self.grant, Grant::TokenExchange(_)) {
            return Err(Fault::NoIssuer);
        }
        let context = GrantContext {
            http: Http::new(Reach::of(server.endpoint.url()), &self.config)?,
            config: self.config,
            nonces: Nonces::default(),
            records: CredentialRecords::new(self.store),
        };
        if let Some(issuer) = &self.issuer {
            let http = issuer.reach(&context.http, "issuer")?;
            http.endpoint("issuer", issuer.url())?;
        }
        let manager = TokenManager::new(server, self.grant, self.issuer, self.scopes, context);
        Ok(OAuth {
            manager: Arc::new(manager),
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("server_url", &self.server_url)
            .field("grant", &self.grant)
            .field("issuer", &self.issuer)
            .field("config", &self.config)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
