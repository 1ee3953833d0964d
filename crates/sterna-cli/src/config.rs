//! What was meant: flags over environment over the configuration file.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use sterna_client::Era;

use crate::args::ConnectArgs;
use crate::duration;
use crate::environment;
use crate::exit::Failure;
use crate::rounds::Limits;

/// The file `$XDG_CONFIG_HOME/sterna/config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    bearer_file: Option<PathBuf>,
    header_file: Option<PathBuf>,
    max_rounds: Option<u32>,
    mcp_json: Option<PathBuf>,
    no_input: Option<bool>,
    pause: Option<String>,
    sampler: Option<String>,
    timeout: Option<String>,
}

/// How to reach a server and who answers it.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) bearer: Option<String>,
    pub(crate) era: Era,
    pub(crate) header_file: Option<PathBuf>,
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
        let path = |given: &Option<PathBuf>, name: &str, kept: Option<PathBuf>| {
            let given = given.clone();
            given
                .or_else(|| environment::var(name).map(PathBuf::from))
                .or(kept)
        };
        let timeout = match args.timeout {
            Some(typed) => Some(typed),
            None => span("STERNA_TIMEOUT", file.timeout)?,
        };
        let usual = Limits::default();
        let limits = Limits {
            rounds: number("STERNA_MAX_ROUNDS", file.max_rounds)?.unwrap_or(usual.rounds),
            pause: span("STERNA_PAUSE", file.pause)?.unwrap_or(usual.pause),
        };
        let bearer_file = path(&args.bearer_file, "STERNA_BEARER_FILE", file.bearer_file);
        Ok(Self {
            bearer: bearer(args, bearer_file)?,
            era: args.era.into(),
            header_file: path(&args.header_file, "STERNA_HEADER_FILE", file.header_file),
            limits,
            mcp_json: path(&args.mcp_json, "STERNA_MCP_JSON", file.mcp_json),
            no_input: args.no_input
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
    read.map(Some)
        .map_err(|error| Failure::usage(format!("`{text}` is no span of time: {error}")))
}

/// A number from the environment, or else from the file.
fn number(name: &str, kept: Option<u32>) -> Result<Option<u32>, Failure> {
    let Some(text) = environment::var(name) else {
        return Ok(kept);
    };
    let read = text.parse();
    read.map(Some)
        .map_err(|_| Failure::usage(format!("{name} is `{text}`, which is no whole number")))
}

/// The token to show, never from a flag: flags stay in the shell's history.
fn bearer(args: &ConnectArgs, file: Option<PathBuf>) -> Result<Option<String>, Failure> {
    if let Some(name) = &args.bearer_env {
        let missing = || Failure::usage(format!("the environment variable {name} is not set"));
        return environment::var(name).ok_or_else(missing).map(Some);
    }
    if args.bearer_file.is_none()
        && let Some(token) = environment::var("STERNA_BEARER")
    {
        return Ok(Some(token));
    }
    let Some(file) = file else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(Some(text.trim().to_owned()))
}

fn read_file() -> Result<File, Failure> {
    let folder = environment::var("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(environment::var("HOME")?).join(".config")));
    let Some(path) = folder.map(|folder| folder.join("sterna/config.toml")) else {
        return Ok(File::default());
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(File::default()),
        Err(error) => {
            let error = anyhow::anyhow!(error);
            return Err(error
                .context(format!("{} cannot be read", path.display()))
                .into());
        }
    };
    toml::from_str(&text).map_err(|error| {
        let reason = error.to_string();
        Failure::usage(format!(
            "{} is not a configuration:\n{reason}",
            path.display()
        ))
    })
}

/// What the client library waits for a silent server.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
