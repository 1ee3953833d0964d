use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sterna_client::Era;

use super::auth::AuthTable;
use super::credential::CredentialTable;
use super::mcp_json::Entry;
use super::{
    ConfigError, Connection, Credential, McpJson, SessionScope, UpstreamConfig, prefix_of,
};
use crate::name_filter::NameFilter;

/// Configuration of a gateway in TOML, which says more than an `mcp.json` can.
///
/// # Examples
///
/// ```
/// use std::path::Path;
/// use sterna_gateway::GatewayFile;
///
/// let file = GatewayFile::parse(r#"
///     listen = "127.0.0.1:8080"
///
///     [servers.billing]
///     url = "https://billing.internal/mcp"
///     headers = { Authorization = "Bearer ${BILLING_TOKEN}" }
///     prefix = "billing_"
///     tools = { allow = ["get_*", "refund"], approve = ["refund"] }
/// "#)?;
/// let servers = file.servers(Path::new("."), &|_| Some("s3cret".to_owned()))?;
/// assert!(servers[0].tools.admits("refund"));
/// # Ok::<(), sterna_gateway::ConfigError>(())
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GatewayFile {
    /// Address to listen on.
    pub listen: Option<SocketAddr>,
    /// Name that sealed state is bound to, the same on every replica.
    pub audience: Option<String>,
    /// File with the keys that seal request state.
    pub keys: Option<PathBuf>,
    /// File with the bearer tokens of callers: `token subject [scope …]`, one a
    /// line.
    pub tokens: Option<PathBuf>,
    /// Authorization server whose tokens callers show, in place of such a file.
    pub auth: Option<AuthTable>,
    /// Place of the audit log: a file, or `stderr`.
    pub audit: Option<PathBuf>,
    /// Opens `/metrics`.
    pub metrics: bool,
    /// Files like an `mcp.json` whose servers are offered too.
    pub include: Vec<PathBuf>,
    servers: BTreeMap<String, ServerTable>,
}

/// `[servers.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerTable {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    credential: Option<CredentialTable>,
    #[serde(default)]
    era: NamedEra,
    prefix: Option<String>,
    #[serde(default)]
    session: SessionScope,
    resume: Option<bool>,
    #[serde(default)]
    trust_annotations: bool,
    #[serde(default)]
    tools: ToolsTable,
    #[serde(default)]
    prompts: NameFilter,
    #[serde(default)]
    resources: NameFilter,
}

/// `tools = { … }` of a server: patterns of their names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ToolsTable {
    allow: Vec<String>,
    deny: Vec<String>,
    /// Those that the caller must approve.
    approve: Vec<String>,
    /// Those that are called anew if a call is lost.
    reissue: Vec<String>,
}

/// Revisions as the file names them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NamedEra {
    #[default]
    Any,
    Legacy,
    Modern,
}

impl From<NamedEra> for Era {
    fn from(era: NamedEra) -> Self {
        match era {
            NamedEra::Any => Self::Any,
            NamedEra::Legacy => Self::Legacy,
            NamedEra::Modern => Self::Modern,
        }
    }
}

impl GatewayFile {
    /// Reads the text of the file.
    ///
    /// # Errors
    ///
    /// It is not TOML, or has a member that is not known.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::Form(error.to_string()))
    }

    /// All servers: those of the file, then those of the files that it includes,
    /// which are sought in `folder`. A server without a `prefix` has its name
    /// before those of its tools, unless it is the only one.
    ///
    /// # Errors
    ///
    /// A server cannot be used, or two have one name.
    pub fn servers(
        &self,
        folder: &Path,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<UpstreamConfig>, ConfigError> {
        let mut servers = Vec::new();
        for (name, table) in &self.servers {
            let connection = table.entry().connection(var);
            let connection = connection.map_err(|reason| ConfigError::server(name, reason))?;
            let mut server = UpstreamConfig::new(name, connection);
            server.prefix = table.prefix.clone().unwrap_or_else(|| prefix_of(name));
            server.era = table.era.into();
            server.session = table.session;
            server.tools.allow.clone_from(&table.tools.allow);
            server.tools.deny.clone_from(&table.tools.deny);
            server.approve.clone_from(&table.tools.approve);
            server.reissue.clone_from(&table.tools.reissue);
            server.resume = table.resume.unwrap_or(true);
            server.trust_annotations = table.trust_annotations;
            server.prompts = table.prompts.clone();
            server.resources = table.resources.clone();
            if let Some(credential) = &table.credential {
                let read = self.credential(credential, folder, var, &mut server.connection);
                server.credential = read.map_err(|reason| ConfigError::server(name, reason))?;
            }
            servers.push(server);
        }
        for included in &self.include {
            let path = folder.join(included);
            let shown = path.display();
            let text = std::fs::read_to_string(&path)
                .map_err(|error| ConfigError::Form(format!("{shown} cannot be read: {error}")))?;
            for mut server in McpJson::parse(&text)?.servers(var)? {
                if servers.iter().any(|known| known.name == server.name) {
                    let reason = format!("it is there twice, the second time in {shown}");
                    return Err(ConfigError::server(&server.name, reason));
                }
                server.prefix = prefix_of(&server.name);
                servers.push(server);
            }
        }
        if let [only] = &mut servers[..]
            && self
                .servers
                .get(&only.name)
                .is_none_or(|table| table.prefix.is_none())
        {
            only.prefix.clear();
        }
        Ok(servers)
    }

    fn credential(
        &self,
        table: &CredentialTable,
        folder: &Path,
        var: &dyn Fn(&str) -> Option<String>,
        connection: &mut Connection,
    ) -> Result<Credential, String> {
        let Connection::Url { headers, .. } = connection else {
            return Err("a program gets its credential in `env`".to_owned());
        };
        let credential = table.read(folder, var, headers)?;
        if credential.trades_tokens() && self.auth.is_none() {
            let reason = "an `exchange` trades the tokens of callers, so the file needs `[auth]`";
            return Err(reason.to_owned());
        }
        Ok(credential)
    }
}

impl ServerTable {
    /// The way to the server, as an `mcp.json` has it.
    fn entry(&self) -> Entry {
        Entry {
            command: self.command.clone(),
            args: self.args.clone(),
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            disabled: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use sterna_protocol::tool::Tool;

    use super::*;

    fn servers(text: &str, folder: &Path) -> Result<Vec<UpstreamConfig>, ConfigError> {
        GatewayFile::parse(text)?.servers(folder, &|_| None)
    }

    #[test]
    fn a_file_adds_to_what_it_includes() {
        let folder = tempfile::tempdir().unwrap();
        let included = r#"{"mcpServers":{"files":{"command":"files-server"}}}"#;
        std::fs::write(folder.path().join("mcp.json"), included).unwrap();
        let text = r#"
            include = ["mcp.json"]
            [servers.billing]
            url = "https://billing.internal/mcp"
            session = "shared"
            prefix = ""
        "#;
        let servers = servers(text, folder.path()).unwrap();
        let shown: Vec<_> = servers
            .iter()
            .map(|one| (one.name.as_str(), one.prefix.as_str(), one.session))
            .collect();
        let expected = [
            ("billing", "", SessionScope::Shared),
            ("files", "files_", SessionScope::Principal),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn tools_that_are_called_anew_are_named_or_trusted() {
        let text = r#"
            [servers.a]
            url = "https://a.internal/mcp"
            tools = { deny = ["drop"], reissue = ["get_*"] }
            [servers.b]
            url = "https://b.internal/mcp"
            trust_annotations = true
        "#;
        let servers = servers(text, Path::new(".")).unwrap();
        let tool = |name: &str, hints: &str| -> Tool {
            let text = format!(
                r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"annotations":{hints}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let shown = |server: &UpstreamConfig| {
            [
                tool("get_order", "{}"),
                tool("refund", "{}"),
                tool("refund", r#"{"readOnlyHint":true}"#),
                tool("refund", r#"{"idempotentHint":true,"readOnlyHint":false}"#),
                tool("refund", r#"{"idempotentHint":false}"#),
            ]
            .map(|tool| server.may_reissue(&tool))
        };
        assert_eq!(shown(&servers[0]), [true, false, false, false, false]);
        assert_eq!(shown(&servers[1]), [false, false, true, true, false]);
        assert!(!servers[0].tools.admits("drop") && servers[0].tools.admits("refund"));
    }

    #[test]
    fn what_cannot_be_used_is_refused_and_named() {
        let here = Path::new(".");
        let error = servers("[servers.a]\nprefix = \"a_\"", here)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "the server `a`: it has neither a `command` nor a `url`"
        );
        let error = servers("[servers.a]\nurl = \"u\"\nprefx = \"\"", here)
            .unwrap_err()
            .to_string();
        assert!(error.contains("prefx"), "{error}");
        let error = servers("liste = \"x\"", here).unwrap_err().to_string();
        assert!(error.contains("liste"), "{error}");
    }
}
