//! Servers by name, from the file that other hosts use too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use super::{NamedBy, Server, Target};
use crate::environment;
use crate::exit::Failure;
use crate::suggest;
use crate::text::{excerpt, one_line};

#[derive(Debug, Deserialize)]
struct McpJsonFile {
    /// VS Code says `servers`.
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, Entry>,
}

/// One server. Hosts put more into it; what is not known here is ignored.
#[derive(Clone, Debug, Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Finds the server `name` in `file`, or in the `mcp.json` of this folder.
pub(super) fn find(name: &str, file: Option<&Path>) -> Result<Target, Failure> {
    let here = ["mcp.json", ".mcp.json"].map(PathBuf::from);
    let Some(file) = file
        .map(Path::to_owned)
        .or_else(|| here.into_iter().find(|file| file.exists()))
    else {
        let name = excerpt(name);
        return Err(Failure::usage(format!("`{name}` is not a URL, and there is no mcp.json here"))
            .hint("a URL begins with http:// or https://; a command stands after `--`; --mcp-json names a file"));
    };
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let servers = serde_json::from_str::<McpJsonFile>(&text)
        .map_err(|error| Failure::usage(format!("{} is not an mcp.json: {error}", file.display())))?
        .servers;
    let Some(entry) = servers.get(name) else {
        let known = servers.keys().map(String::as_str);
        let missing = format!("{} has no server `{}`", file.display(), excerpt(name));
        return Err(Failure::usage(missing).hint(suggest::among(name, known, "it has")));
    };
    let server = server(entry, &variable).map_err(|reason| {
        let (name, file) = (excerpt(name), file.display());
        Failure::usage(format!(
            "the server `{name}` in {file}: {}",
            one_line(&reason)
        ))
    })?;
    let name = name.to_owned();
    let named_by = NamedBy::McpJson { file, name };
    Ok(Target { server, named_by })
}

/// A variable for an entry. The command's own token is never given: a file must
/// not choose where it goes.
fn variable(name: &str) -> Option<String> {
    match name {
        "STERNA_BEARER" => None,
        name => environment::var(name),
    }
}

fn server(entry: &Entry, var: &dyn Fn(&str) -> Option<String>) -> Result<Server, String> {
    let expand_all = |values: &BTreeMap<String, String>| {
        let expand = |(name, value): (&String, &String)| Ok((name.clone(), expand(value, var)?));
        values.iter().map(expand).collect::<Result<_, String>>()
    };
    match (&entry.command, &entry.url) {
        (Some(program), None) => Ok(Server::Command {
            program: expand(program, var)?,
            args: entry
                .args
                .iter()
                .map(|arg| expand(arg, var))
                .collect::<Result<_, _>>()?,
            env: expand_all(&entry.env)?,
            folder: entry.cwd.clone(),
        }),
        (None, Some(url)) => Ok(Server::Url {
            url: expand(url, var)?,
            headers: expand_all(&entry.headers)?,
        }),
        (Some(_), Some(_)) => Err("it has both a `command` and a `url`".to_owned()),
        (None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
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
        let value = var(name).or(default);
        out.push_str(&value.ok_or_else(|| unset(name))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn unset(name: &str) -> String {
    match name {
        "STERNA_BEARER" => {
            "an entry cannot take $STERNA_BEARER; --credentials-for sends the token \
                            to a server that this file names"
                .to_owned()
        }
        name => format!("the environment variable {name} is not set"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Expect) {
        let var = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        let entry = serde_json::from_str(json).unwrap();
        expected.assert_eq(&format!("{:?}", server(&entry, &var)));
    }

    #[test]
    fn entries_are_read_as_other_hosts_read_them() {
        check(
            r#"{"command":"npx","args":["-y","server"],"env":{"KEY":"${TOKEN}"},"disabled":false}"#,
            expect![[
                r#"Ok(Command { program: "npx", args: ["-y", "server"], env: {"KEY": "s3cret"}, folder: None })"#
            ]],
        );
        check(
            r#"{"type":"http","url":"https://${HOST:-mcp.example}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}"#,
            expect![[
                r#"Ok(Url { url: "https://mcp.example/mcp", headers: {"Authorization": "Bearer s3cret"} })"#
            ]],
        );
    }

    #[test]
    fn an_entry_that_cannot_be_used_says_why() {
        check(
            "{}",
            expect![[r#"Err("it has neither a `command` nor a `url`")"#]],
        );
        check(
            r#"{"url":"${NOWHERE}"}"#,
            expect![[r#"Err("the environment variable NOWHERE is not set")"#]],
        );
    }
}
