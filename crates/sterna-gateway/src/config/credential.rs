use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sterna_client::oauth::{Secret, TokenIssuer};

/// Credential that the gateway shows to a server at a URL, besides the header
/// fields of its [`Connection`](super::Connection).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// A token of the gateway itself (client credentials).
    Client(TokenClient),
    /// A token of each caller: the one that the caller showed is traded (RFC
    /// 8693). It goes to the token endpoint, and the new one to the server.
    Exchange(TokenClient),
    /// The header fields alone.
    #[default]
    None,
}

impl Credential {
    /// Returns `true` if the token of a caller is needed, which the gate of the
    /// server must keep ([`Gate::keeping_tokens`](sterna_server::auth::Gate::keeping_tokens)).
    #[must_use]
    pub fn trades_tokens(&self) -> bool {
        matches!(self, Self::Exchange(_))
    }

    /// Word for it in tables: `client`, `exchange` or `none`.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Client(_) => "client",
            Self::Exchange(_) => "exchange",
            Self::None => "none",
        }
    }
}

/// The gateway as the client of an authorization server.
#[derive(Clone)]
#[non_exhaustive]
pub struct TokenClient {
    /// The authorization server.
    pub issuer: TokenIssuer,
    /// Client id of the gateway there.
    pub client_id: String,
    /// Secret of that client; `None` for a public one.
    pub secret: Option<Secret>,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    /// Name of the server at the authorization server, in place of its URL. Only
    /// an exchange has one.
    pub audience: Option<String>,
}

impl TokenClient {
    /// The client `client_id` of `issuer`, which asks for no scope.
    #[must_use]
    pub fn new(issuer: TokenIssuer, client_id: impl Into<String>) -> Self {
        Self {
            issuer,
            client_id: client_id.into(),
            secret: None,
            scopes: Vec::new(),
            audience: None,
        }
    }

    fn secret_text(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::expose)
    }
}

impl PartialEq for TokenClient {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            issuer,
            client_id,
            secret: _,
            scopes,
            audience,
        } = self;
        *issuer == other.issuer
            && *client_id == other.client_id
            && *scopes == other.scopes
            && *audience == other.audience
            && self.secret_text() == other.secret_text()
    }
}

impl Eq for TokenClient {}

impl fmt::Debug for TokenClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenClient")
            .field("issuer", &self.issuer.url())
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// `credential = { … }` of a server, in one of its three forms.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CredentialTable {
    /// A header field: from a file or the environment.
    file: Option<PathBuf>,
    env: Option<String>,
    header: Option<String>,
    /// Client credentials: an issuer, or its token endpoint.
    issuer: Option<String>,
    token: Option<String>,
    /// Token exchange: the token endpoint.
    exchange: Option<String>,
    audience: Option<String>,
    client: Option<String>,
    secret_file: Option<PathBuf>,
    secret_env: Option<String>,
    scopes: Vec<String>,
}

impl CredentialTable {
    /// Reads the credential. One that is a header field goes into `headers`.
    pub(super) fn read(
        &self,
        folder: &Path,
        var: &dyn Fn(&str) -> Option<String>,
        headers: &mut BTreeMap<String, String>,
    ) -> Result<Credential, String> {
        let from = |file: &Option<PathBuf>, env: &Option<String>| match (file, env) {
            (Some(file), None) => read_file(&folder.join(file)).map(Some),
            (None, Some(name)) => {
                let unset = || format!("the environment variable {name} is not set");
                var(name).map(Some).ok_or_else(unset)
            }
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err("its credential is in a file and in a variable".to_owned()),
        };
        let value = from(&self.file, &self.env)?;
        let secret = from(&self.secret_file, &self.secret_env)?;
        let is_client = self.client.is_some() || secret.is_some() || !self.scopes.is_empty();
        let issuer = match (&self.issuer, &self.token, &self.exchange) {
            (None, None, None) => None,
            (Some(issuer), None, None) => Some(TokenIssuer::new(issuer)),
            (None, Some(endpoint), None) | (None, None, Some(endpoint)) => {
                Some(TokenIssuer::at_token_endpoint(endpoint))
            }
            _ => return Err("its credential has two of `issuer`, `token`, `exchange`".to_owned()),
        };
        let Some(issuer) = issuer else {
            let value = value.filter(|_| !is_client && self.audience.is_none());
            let value = value.ok_or(FORMS)?;
            let (name, value) = match &self.header {
                Some(name) => (name.clone(), value),
                None => (AUTHORIZATION.to_owned(), format!("Bearer {value}")),
            };
            let is_there = |known: &String| known.eq_ignore_ascii_case(&name);
            if headers.keys().any(is_there) {
                return Err(format!("`headers` and its credential both have {name}"));
            }
            headers.insert(name, value);
            return Ok(Credential::None);
        };
        if value.is_some() || self.header.is_some() {
            return Err(FORMS.to_owned());
        }
        let id = self.client.as_deref().ok_or(
            "its credential has no `client`, the id of the gateway at the authorization server",
        )?;
        let mut client = TokenClient::new(issuer, id);
        client.secret = secret.map(Secret::from);
        client.scopes.clone_from(&self.scopes);
        client.audience.clone_from(&self.audience);
        match (&self.exchange, &self.audience) {
            (Some(_), _) => Ok(Credential::Exchange(client)),
            (None, None) => Ok(Credential::Client(client)),
            (None, Some(_)) => Err("only an `exchange` has an `audience`".to_owned()),
        }
    }
}

/// Reads a secret that is the whole of a file.
fn read_file(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("its credential {shown} cannot be read: {error}"))?;
    match text.trim() {
        "" => Err(format!("its credential {shown} is empty")),
        secret => Ok(secret.to_owned()),
    }
}

const AUTHORIZATION: &str = "Authorization";

const FORMS: &str = "its credential is none of `{ file or env, header }`, `{ issuer or token, \
                     client, … }` and `{ exchange, client, … }`";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Credential, BTreeMap<String, String>), String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), "from-file\n").unwrap();
        std::fs::write(folder.path().join("empty"), "\n").unwrap();
        let var = |name: &str| (name == "SECRET").then(|| "from-env".to_owned());
        let table: CredentialTable = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut headers = BTreeMap::from([("X-Tenant".to_owned(), "one".to_owned())]);
        let credential = table.read(folder.path(), &var, &mut headers)?;
        Ok((credential, headers))
    }

    #[test]
    fn a_static_credential_is_a_header_field() {
        for (text, name, value) in [
            ("file = 'secret'", "Authorization", "Bearer from-file"),
            ("env = 'SECRET'", "Authorization", "Bearer from-env"),
            (
                "env = 'SECRET'\nheader = 'X-Api-Key'",
                "X-Api-Key",
                "from-env",
            ),
        ] {
            let (credential, headers) = read(text).unwrap();
            assert_eq!(credential, Credential::None);
            assert_eq!(headers.get(name).map(String::as_str), Some(value), "{text}");
        }
    }

    #[test]
    fn a_client_gets_tokens_for_itself_or_for_its_callers() {
        let own = "issuer = 'https://as.example'\nclient = 'gw'\nsecret_file = 'secret'";
        let (Credential::Client(client), _) = read(own).unwrap() else {
            panic!("it is a client");
        };
        assert_eq!(client.secret_text(), Some("from-file"));
        assert_eq!(client.issuer, TokenIssuer::new("https://as.example"));
        let traded = "exchange = 'https://as.example/token'\nclient = 'gw'\naudience = 'billing'\nscopes = ['read']";
        let (credential, _) = read(traded).unwrap();
        assert!(credential.trades_tokens());
        assert!(!format!("{client:?}").contains("from-file"));
    }

    #[test]
    fn a_credential_that_is_neither_says_what_it_could_be() {
        for (text, expected) in [
            ("", "none of"),
            ("header = 'X-Api-Key'", "none of"),
            (
                "file = 'secret'\nenv = 'SECRET'",
                "in a file and in a variable",
            ),
            ("file = 'gone'", "cannot be read"),
            ("file = 'empty'", "is empty"),
            ("env = 'NOWHERE'", "NOWHERE is not set"),
            ("env = 'SECRET'\nheader = 'x-tenant'", "both have x-tenant"),
            ("issuer = 'i'\ntoken = 't'\nclient = 'gw'", "has two of"),
            ("issuer = 'i'", "has no `client`"),
            ("issuer = 'i'\nclient = 'gw'\nenv = 'SECRET'", "none of"),
            (
                "token = 't'\nclient = 'gw'\naudience = 'b'",
                "only an `exchange`",
            ),
            ("secret = 's'", "unknown field"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
