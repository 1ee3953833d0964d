use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use sterna_server::auth::{ScopePolicy, Scopes};

use crate::name_filter;

/// `[auth]`: the authorization server whose tokens callers show.
///
/// # Examples
///
/// ```
/// use sterna_gateway::GatewayFile;
/// use sterna_server::auth::Scopes;
///
/// let file = GatewayFile::parse(r#"
///     audience = "https://mcp.corp.example/mcp"
///
///     [auth]
///     issuer = "https://login.corp.example"
///     scopes = ["mcp"]
///     tools = { "billing_*" = ["billing"] }
/// "#)?;
/// let policy = file.auth.ok_or("it has `[auth]`")?.policy();
/// let needed = policy.needed("tools/call", Some("billing_refund"));
/// assert_eq!(needed, Scopes::parse("billing mcp"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AuthTable {
    /// Issuer of the tokens, letter by letter as their `iss` has it.
    pub issuer: String,
    /// URL or file of its keys. By default its metadata says where they are.
    pub jwks: Option<String>,
    /// Audience that tokens must name: the URL of the gateway. By default it is
    /// that of the file.
    pub audience: Option<String>,
    /// Scopes that every request needs.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Scopes that calls of tools need too, by patterns of the names that the
    /// gateway offers them under.
    #[serde(default)]
    pub tools: BTreeMap<String, Vec<String>>,
    /// File of certificates, in PEM, that its HTTPS is trusted with in place of
    /// those of the machine. Needs `jwks`.
    pub ca: Option<PathBuf>,
}

impl AuthTable {
    /// The scopes that requests need.
    #[must_use]
    pub fn policy(&self) -> ScopePolicy {
        let policy = ScopePolicy::everywhere(self.scopes.iter().collect());
        if self.tools.is_empty() {
            return policy;
        }
        let tools = self.tools.clone();
        policy.for_calls(move |method, name| {
            let Some(name) = name.filter(|_| method == "tools/call") else {
                return Scopes::none();
            };
            let fitting = tools
                .iter()
                .filter(|(pattern, _)| name_filter::matches(pattern, name));
            fitting.flat_map(|(_, scopes)| scopes).collect()
        })
    }
}
