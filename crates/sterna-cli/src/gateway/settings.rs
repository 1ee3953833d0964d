use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sterna_gateway::{AuditTarget, AuthTable, GatewayFile, McpJson, UpstreamConfig};

use crate::exit::Failure;
use crate::target::variable;

/// Settings of a gateway, from whichever kind of file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GatewaySettings {
    pub(super) servers: Vec<UpstreamConfig>,
    pub(super) listen: Option<SocketAddr>,
    pub(super) audience: Option<String>,
    pub(super) keys: Option<PathBuf>,
    pub(super) tokens: Option<PathBuf>,
    pub(super) auth: Option<AuthTable>,
    pub(super) audit: Option<AuditTarget>,
    pub(super) metrics: bool,
}

impl GatewaySettings {
    /// Reads a file: TOML if its name says so, else an `mcp.json`.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read", file.display()))?;
        let refused = |error| Failure::usage(format!("{}: {error}", file.display()));
        if file.extension().is_none_or(|kind| kind != "toml") {
            let servers = McpJson::parse(&text).and_then(|file| file.servers(&variable));
            return Ok(Self {
                servers: servers.map_err(refused)?,
                ..Self::default()
            });
        }
        // Paths in the file are relative to it.
        let folder = file.parent().unwrap_or_else(|| Path::new("."));
        let read = GatewayFile::parse(&text).map_err(refused)?;
        Ok(Self {
            servers: read.servers(folder, &variable).map_err(refused)?,
            listen: read.listen,
            audience: read.audience,
            keys: read.keys.map(|keys| folder.join(keys)),
            tokens: read.tokens.map(|tokens| folder.join(tokens)),
            auth: read.auth.map(|auth| within(auth, folder)),
            metrics: read.metrics,
            audit: read.audit.map(|audit| match audit == Path::new("stderr") {
                true => AuditTarget::Stderr,
                false => AuditTarget::File(folder.join(audit)),
            }),
        })
    }
}

impl GatewaySettings {
    /// The same settings without the servers, which alone are taken over while the
    /// gateway runs.
    pub(super) fn without_servers(&self) -> Self {
        Self {
            servers: Vec::new(),
            ..self.clone()
        }
    }
}

/// The table with its paths relative to `folder`.
fn within(mut auth: AuthTable, folder: &Path) -> AuthTable {
    auth.ca = auth.ca.map(|ca| folder.join(ca));
    auth.jwks = auth.jwks.map(|jwks| match jwks.contains("://") {
        true => jwks,
        false => folder.join(jwks).to_string_lossy().into_owned(),
    });
    auth
}
