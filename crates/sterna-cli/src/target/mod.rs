//! Which server is meant: a URL, a command, or a name in an `mcp.json`.

mod mcp_json;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use mcp_json::variable;

use crate::exit::Failure;
use crate::text::{excerpt, one_line};

/// A server to connect to, and who named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) server: Server,
    pub(crate) named_by: NamedBy,
}

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// A program to start.
    Command {
        program: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        folder: Option<PathBuf>,
    },
    /// A URL, with header fields to send.
    Url {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

/// Source of a server's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamedBy {
    /// The user typed it.
    CommandLine,
    /// The entry `name` of an `mcp.json`.
    McpJson { file: PathBuf, name: String },
    /// A paused call.
    PausedCall(PathBuf),
}

impl fmt::Display for NamedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => f.write_str("the command line"),
            Self::McpJson { file, name } => {
                write!(f, "the entry `{}` of {}", one_line(name), file.display())
            }
            Self::PausedCall(file) => write!(f, "the paused call in {}", file.display()),
        }
    }
}

impl Target {
    /// Splits the typed words into the server and what is left. A server given
    /// as a command after `--` leaves all words for the rest.
    pub(crate) fn split<'a>(
        words: &'a [String],
        command: &[String],
        mcp_json: Option<&Path>,
    ) -> Result<(Self, &'a [String]), Failure> {
        if let Some(target) = Self::command(command) {
            return Ok((target, words));
        }
        let [first, rest @ ..] = words else {
            return Err(Failure::usage("no server is named").hint(
                "name a URL, an entry of your mcp.json, or a command after `--`, \
                 such as `-- npx some-server`",
            ));
        };
        Ok((Self::parse(first, mcp_json)?, rest))
    }

    /// Reads a typed URL or a name.
    pub(crate) fn parse(text: &str, mcp_json: Option<&Path>) -> Result<Self, Failure> {
        match is_url(text) {
            true => Ok(Self::at(text, NamedBy::CommandLine)),
            false => mcp_json::find(text, mcp_json),
        }
    }

    /// The server that the paused call in `file` belongs to.
    pub(crate) fn of_paused(server: &str, file: &Path) -> Result<Self, Failure> {
        if is_url(server) {
            return Ok(Self::at(server, NamedBy::PausedCall(file.to_owned())));
        }
        let (server, file) = (excerpt(server), file.display());
        Err(Failure::usage(format!(
            "{file} belongs to a server that was started as `{server}`, and does not say how"
        ))
        .hint(format!(
            "add the whole command: sterna resume {file} … -- {server} …; \
             or its name in your mcp.json: sterna resume {file} --at NAME"
        )))
    }

    /// A server given as a command after `--`, if there is one.
    pub(crate) fn command(command: &[String]) -> Option<Self> {
        let [program, args @ ..] = command else {
            return None;
        };
        let server = Server::Command {
            program: program.clone(),
            args: args.to_vec(),
            env: BTreeMap::new(),
            folder: None,
        };
        let named_by = NamedBy::CommandLine;
        Some(Self { server, named_by })
    }

    fn at(url: &str, named_by: NamedBy) -> Self {
        let server = Server::Url {
            url: url.to_owned(),
            headers: BTreeMap::new(),
        };
        Self { server, named_by }
    }

    /// The command that goes on with a call of this server which `file` holds.
    pub(crate) fn resume_line(&self, file: &str) -> String {
        let file = quoted(file);
        let answer = "--answer KEY.FIELD=VALUE";
        match (&self.named_by, &self.server) {
            (
                NamedBy::McpJson {
                    file: servers,
                    name,
                },
                _,
            ) => {
                let (name, servers) = (quoted(name), quoted(&servers.to_string_lossy()));
                format!("sterna resume {file} --at {name} --mcp-json {servers} {answer}")
            }
            (_, Server::Command { program, args, .. }) => {
                format!("sterna resume {file} {answer} -- {}", words(program, args))
            }
            (_, Server::Url { .. }) => format!("sterna resume {file} {answer}"),
        }
    }

    /// The command that follows the task `id` of this server, with `flags`.
    pub(crate) fn follow_line(&self, id: &str, flags: &str) -> String {
        let id = format!("{}{flags}", quoted(id));
        match (&self.named_by, &self.server) {
            (NamedBy::McpJson { file, name }, _) => {
                let (name, file) = (quoted(name), quoted(&file.to_string_lossy()));
                format!("sterna task follow {name} {id} --mcp-json {file}")
            }
            (_, Server::Command { program, args, .. }) => {
                format!("sterna task follow {id} -- {}", words(program, args))
            }
            (_, Server::Url { url, .. }) => format!("sterna task follow {} {id}", quoted(url)),
        }
    }
}

fn words(program: &str, args: &[String]) -> String {
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// `word` as one word of a shell: a name that a server or a file has chosen
/// must not run anything when the user copies the line.
fn quoted(word: &str) -> String {
    let word = one_line(word);
    let is_plain = |each: char| each.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(each);
    if !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('~') {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word_and_runs_nothing() {
        for (word, expected) in [
            ("call.json", "call.json"),
            ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080/mcp"),
            ("details~2", "details~2"),
            ("", "''"),
            ("my call.json", "'my call.json'"),
            ("it's", r"'it'\''s'"),
            ("$(reboot)", "'$(reboot)'"),
            ("a\u{1b};\nreboot", "'a ; reboot'"),
            ("~root", "'~root'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
