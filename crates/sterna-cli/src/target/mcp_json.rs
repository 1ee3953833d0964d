//! Servers by name, from the file that other hosts use too.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sterna_gateway::{Connection, McpJson};

use super::{NamedBy, Server, Target};
use crate::environment;
use crate::exit::Failure;
use crate::suggest;
use crate::text::{excerpt, one_line};

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
    let servers = McpJson::parse(&text).map_err(|error| {
        Failure::usage(format!("{} is not an mcp.json: {error}", file.display()))
    })?;
    let Some(connection) = servers.connection(name, &variable) else {
        let missing = format!("{} has no server `{}`", file.display(), excerpt(name));
        return Err(Failure::usage(missing).hint(suggest::among(name, servers.names(), "it has")));
    };
    let server = connection.map_err(|reason| in_entry(name, &file, reason.reason()))?;
    let server = match server {
        Connection::Command {
            program,
            args,
            env,
            folder,
        } => Server::Command {
            program,
            args,
            env,
            folder,
        },
        Connection::Url { url, headers } => Server::Url { url, headers },
        _ => return Err(in_entry(name, &file, "this command cannot connect to it")),
    };
    let name = name.to_owned();
    let named_by = NamedBy::McpJson { file, name };
    Ok(Target { server, named_by })
}

fn in_entry(name: &str, file: &Path, reason: &str) -> Failure {
    let reason = match reason.contains(BEARER) {
        true => {
            "an entry cannot take $STERNA_BEARER; --credentials-for sends the token to a server \
             that this file names"
        }
        false => reason,
    };
    let (name, file) = (excerpt(name), file.display());
    Failure::usage(format!(
        "the server `{name}` in {file}: {}",
        one_line(reason)
    ))
}

/// A variable for an entry. The command's own token is never given: a file must
/// not choose where it goes.
pub(crate) fn variable(name: &str) -> Option<String> {
    match name {
        BEARER => None,
        name => environment::var(name),
    }
}

const BEARER: &str = "STERNA_BEARER";
