use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::{ConfigError, Connection, UpstreamConfig, prefix_of};

/// An `mcp.json`, the file in which hosts keep the servers of their user:
/// `{"mcpServers": {"NAME": {…}}}`.
///
/// An entry has a `command` with `args`, `env` and `cwd`, or a `url` with
/// `headers`. `${NAME}` and `${NAME:-default}` in them stand for variables of the
/// environment. Members that other hosts put there are ignored.
///
/// # Examples
///
/// ```
/// use sterna_gateway::McpJson;
///
/// let file = McpJson::parse(r#"{"mcpServers": {
///     "files": {"command": "npx", "args": ["-y", "server-filesystem", "${HOME}"]},
///     "tickets": {"url": "https://tickets.example/mcp"}
/// }}"#)?;
/// let servers = file.servers(&|name| (name == "HOME").then(|| "/home/ann".to_owned()))?;
/// assert_eq!(servers[0].prefix, "files_");
/// # Ok::<(), sterna_gateway::ConfigError>(())
/// ```
#[derive(Debug, Deserialize)]
pub struct McpJson {
    /// VS Code says `servers`.
    #[serde(rename = "mcpServers", alias = "servers")]
    entries: BTreeMap<String, Entry>,
}

/// One server. Hosts put more into it; what is not known here is ignored.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl")]
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) disabled: bool,
}

impl McpJson {
    /// Reads the text of the file.
    ///
    /// # Errors
    ///
    /// It is not JSON, or not of this form.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        serde_json::from_str(text).map_err(|error| ConfigError::Form(error.to_string()))
    }

    /// The names of its servers.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.keys().map(String::as_str)
    }

    /// The way to the server `name`, with the variables that `var` knows put in.
    /// `None` if the file has no such server.
    ///
    /// # Errors
    ///
    /// The entry cannot be used.
    pub fn connection(
        &self,
        name: &str,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Result<Connection, ConfigError>> {
        let entry = self.entries.get(name)?;
        let found = entry.connection(var);
        Some(found.map_err(|reason| ConfigError::server(name, reason)))
    }

    /// All servers that are not `disabled`. One alone offers its names as they
    /// are; of several, each has its name before those of its tools and prompts.
    ///
    /// # Errors
    ///
    /// An entry cannot be used.
    pub fn servers(
        &self,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<UpstreamConfig>, ConfigError> {
        let enabled = || self.entries.iter().filter(|(_, entry)| !entry.disabled);
        let is_alone = enabled().count() == 1;
        let server = |(name, entry): (&String, &Entry)| {
            let found = entry.connection(var);
            let connection = found.map_err(|reason| ConfigError::server(name, reason))?;
            let mut server = UpstreamConfig::new(name, connection);
            if !is_alone {
                server.prefix = prefix_of(name);
            }
            Ok(server)
        };
        enabled().map(server).collect()
    }
}

impl Entry {
    pub(super) fn connection(
        &self,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Connection, String> {
        let expand_all = |values: &BTreeMap<String, String>| {
            let expand =
                |(name, value): (&String, &String)| Ok((name.clone(), expand(value, var)?));
            values.iter().map(expand).collect::<Result<_, String>>()
        };
        match (&self.command, &self.url) {
            (Some(program), None) => Ok(Connection::Command {
                program: expand(program, var)?,
                args: self
                    .args
                    .iter()
                    .map(|arg| expand(arg, var))
                    .collect::<Result<_, _>>()?,
                env: expand_all(&self.env)?,
                folder: self.cwd.clone(),
            }),
            (None, Some(url)) => Ok(Connection::Url {
                url: expand(url, var)?,
                headers: expand_all(&self.headers)?,
            }),
            (Some(_), Some(_)) => Err("it has both a `command` and a `url`".to_owned()),
            (None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
        }
    }
}

/// Puts variables in: `${NAME}`, or `${NAME:-what to take if it is not set}`.
fn expand(text: &str, var: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let (inside, after) = after.split_once('}').ok_or("a `${` has no `}`")?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside, None),
        };
        let unset = || format!("the environment variable {name} is not set");
        out.push_str(&var(name).or(default).ok_or_else(unset)?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(entry: &str) -> Result<Connection, String> {
        let var = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        let entry: Entry = serde_json::from_str(entry).unwrap();
        entry.connection(&var)
    }

    #[test]
    fn entries_are_read_as_other_hosts_read_them() {
        let command =
            r#"{"command":"npx","args":["-y","server"],"env":{"KEY":"${TOKEN}"},"type":"stdio"}"#;
        let expected = Connection::Command {
            program: "npx".to_owned(),
            args: vec!["-y".to_owned(), "server".to_owned()],
            env: BTreeMap::from([("KEY".to_owned(), "s3cret".to_owned())]),
            folder: None,
        };
        assert_eq!(connection(command), Ok(expected));
        let url = r#"{"type":"http","url":"https://${HOST:-mcp.example}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}"#;
        let expected = Connection::Url {
            url: "https://mcp.example/mcp".to_owned(),
            headers: BTreeMap::from([("Authorization".to_owned(), "Bearer s3cret".to_owned())]),
        };
        assert_eq!(connection(url), Ok(expected));
    }

    #[test]
    fn an_entry_that_cannot_be_used_says_why() {
        for (entry, expected) in [
            ("{}", "it has neither a `command` nor a `url`"),
            (
                r#"{"url":"u","command":"c"}"#,
                "it has both a `command` and a `url`",
            ),
            (
                r#"{"url":"${NOWHERE}"}"#,
                "the environment variable NOWHERE is not set",
            ),
            (r#"{"url":"${NOWHERE"}"#, "a `${` has no `}`"),
        ] {
            assert_eq!(connection(entry).unwrap_err(), expected);
        }
    }

    #[test]
    fn one_server_keeps_its_names_and_several_have_theirs_before_them() {
        let prefixes = |text: &str| -> Vec<String> {
            let servers = McpJson::parse(text).unwrap().servers(&|_| None).unwrap();
            servers.into_iter().map(|server| server.prefix).collect()
        };
        let one = r#"{"mcpServers":{"a":{"url":"u"},"b":{"url":"u","disabled":true}}}"#;
        assert_eq!(prefixes(one), [""]);
        let two = r#"{"mcpServers":{"my files":{"url":"u"},"b.c-d":{"url":"u"}}}"#;
        assert_eq!(prefixes(two), ["b.c-d_", "my_files_"]);
    }

    #[test]
    fn a_secret_is_not_shown() {
        let entry = r#"{"url":"https://a.example","headers":{"Authorization":"Bearer ${TOKEN}"}}"#;
        assert!(!format!("{:?}", connection(entry)).contains("s3cret"));
    }
}
