//! Which server is meant: a URL, a command, or a name in an `mcp.json`.

mod mcp_json;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::config::Settings;
use crate::exit::Failure;

/// A server to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// At a URL, with header fields to send.
    Url {
        url: String,
        headers: BTreeMap<String, String>,
    },
    /// A program to start.
    Command {
        program: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        folder: Option<PathBuf>,
    },
}

impl Target {
    /// Splits the typed words into the server and what is left. A server given
    /// as a command after `--` leaves all words for the rest.
    pub(crate) fn split<'a>(
        words: &'a [String],
        command: &[String],
        settings: &Settings,
    ) -> Result<(Self, &'a [String]), Failure> {
        if let [program, args @ ..] = command {
            let target = Self::Command {
                program: program.clone(),
                args: args.to_vec(),
                env: BTreeMap::new(),
                folder: None,
            };
            return Ok((target, words));
        }
        let [first, rest @ ..] = words else {
            return Err(Failure::usage("no server is named").hint(
                "name a URL, an entry of your mcp.json, or a command after `--`, \
                 such as `-- npx some-server`",
            ));
        };
        Ok((Self::parse(first, settings)?, rest))
    }

    /// Reads a URL or a name.
    pub(crate) fn parse(text: &str, settings: &Settings) -> Result<Self, Failure> {
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(Self::Url {
                url: text.to_owned(),
                headers: BTreeMap::new(),
            });
        }
        mcp_json::find(text, settings.mcp_json.as_deref())
    }
}
