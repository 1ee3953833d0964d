//! Settings: flags over environment over the configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use sterna_client::Era;

use crate::args::ConnectArgs;
use crate::credentials::{BoundFiles, Credentials};
use crate::duration;
use crate::environment;
use crate::exit::Failure;

/// The file `$XDG_CONFIG_HOME/sterna/config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    /// Refused, because it names no server.
    bearer_file: Option<PathBuf>,
    #[serde(default)]
    bearer_files: BTreeMap<String, PathBuf>,
    /// Refused, because it names no server.
    header_file: Option<PathBuf>,
    #[serde(default)]
    header_files: BTreeMap<String, PathBuf>,
    max_rounds: Option<u32>,
    mcp_json: Option<PathBuf>,
    no_input: Option<bool>,
    pause: Option<String>,
    sampler: Option<String>,
    timeout: Option<String>,
}

/// Limits of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Largest number of retries.
    pub(crate) rounds: u32,
    /// The wait before a retry that needs no answer, doubled each time.
    pub(crate) pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Servers keep within eight; other clients stop at ten.
            rounds: 10,
            pause: Duration::from_millis(100),
        }
    }
}

/// Settings of the connection, and of the answers.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) credentials: Credentials,
    pub(crate) era: Era,
    pub(crate) limits: Limits,
    pub(crate) mcp_json: Option<PathBuf>,
    pub(crate) no_input: bool,
    pub(crate) sampler: Option<String>,
    pub(crate) timeout: Duration,
}

impl Settings {
    /// Puts together what was typed, what is in the environment and what is in
    /// the file.
    pub(crate) fn read(args: &ConnectArgs) -> Result<Self, Failure> {
        let file = read_file()?;
        let timeout = match args.request.timeout {
            Some(typed) => Some(typed),
            None => span("STERNA_TIMEOUT", file.timeout)?,
        };
        let usual = Limits::default();
        let limits = Limits {
            rounds: number("STERNA_MAX_ROUNDS", file.max_rounds)?.unwrap_or(usual.rounds),
            pause: span("STERNA_PAUSE", file.pause)?.unwrap_or(usual.pause),
        };
        let credentials = Credentials::read(
            &args.request,
            BoundFiles::read(file.bearer_files)?,
            BoundFiles::read(file.header_files)?,
        )?;
        let mcp_json = args.mcp_json.clone();
        let mcp_json = mcp_json.or_else(|| environment::var("STERNA_MCP_JSON").map(PathBuf::from));
        Ok(Self {
            credentials,
            era: args.era.into(),
            limits,
            mcp_json: mcp_json.or(file.mcp_json),
            no_input: args.request.no_input
                || environment::var("STERNA_NO_INPUT").is_some()
                || file.no_input.unwrap_or(false),
            sampler: environment::var("STERNA_SAMPLER").or(file.sampler),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        })
    }
}

/// A span of time from the environment, or else from the file.
fn span(name: &str, kept: Option<String>) -> Result<Option<Duration>, Failure> {
    let Some(text) = environment::var(name).or(kept) else {
        return Ok(None);
    };
    let read = duration::parse(&text);
    read.map(Some).map_err(|error| {
        Failure::usage(format!(
            "{name} is `{text}`, which is not a duration: {error}"
        ))
    })
}

/// A number from the environment, or else from the file.
fn number(name: &str, kept: Option<u32>) -> Result<Option<u32>, Failure> {
    let Some(text) = environment::var(name) else {
        return Ok(kept);
    };
    let read = text.parse();
    read.map(Some)
        .map_err(|_| Failure::usage(format!("{name} is `{text}`, which is not a whole number")))
}

/// A field that named a secret for every server, and has to name one now.
fn unbound(field: &str, path: &Path) -> Failure {
    let file = path.display();
    let error = format!("{file}: `{field}` does not say which server the secret belongs to");
    Failure::usage(error).hint(format!(
        "write this in its place, with the address of the server:\n\
         [{field}s]\n\"https://mcp.example\" = \"/path/of/the/file\""
    ))
}

fn read_file() -> Result<ConfigFile, Failure> {
    let Some(path) = environment::config_file() else {
        return Ok(ConfigFile::default());
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(ConfigFile::default());
        }
        Err(error) => {
            let error = anyhow::anyhow!(error);
            return Err(error
                .context(format!("{} cannot be read", path.display()))
                .into());
        }
    };
    let file: ConfigFile = toml::from_str(&text).map_err(|error| {
        let reason = error.to_string();
        Failure::usage(format!(
            "{} is not a configuration:\n{reason}",
            path.display()
        ))
    })?;
    if file.bearer_file.is_some() {
        return Err(unbound("bearer_file", &path));
    }
    if file.header_file.is_some() {
        return Err(unbound("header_file", &path));
    }
    Ok(file)
}

/// Timeout of the client library.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
