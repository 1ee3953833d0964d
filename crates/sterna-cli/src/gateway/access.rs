//! Callers of the gateway: those of a token file, or of an authorization server.

use std::path::Path;

use anyhow::Context as _;
use sterna_gateway::AuthTable;
use sterna_jwks::{IssuerKeys, JwksUrl};
use sterna_server::auth::{Gate, JwksFile, JwtConfig, ResourceServer, Scopes, StaticTokens};
use sterna_server::http::Probes;

use super::settings::GatewaySettings;
use crate::exit::Failure;

/// Gate of the gateway as the file says, or `None` if it says nothing; and its
/// probes, which know whether the keys of an issuer are there.
pub(super) fn read(
    settings: &GatewaySettings,
    probes: Probes,
) -> Result<(Option<Gate>, Probes), Failure> {
    let (gate, probes) = match (&settings.tokens, &settings.auth) {
        (None, None) => return Ok((None, probes)),
        (Some(tokens), None) => (Gate::guarded(read_tokens(tokens)?), probes),
        (None, Some(auth)) => {
            let server = resource_server(auth, settings.audience.as_deref())?;
            let probes = probes.checking(server.check());
            (Gate::guarded(server).with_scopes(auth.policy()), probes)
        }
        (Some(_), Some(_)) => {
            let reason = "the file has both `tokens` and `[auth]`; leave one of them out";
            return Err(Failure::usage(reason));
        }
    };
    Ok(match trades_tokens(settings) {
        true => (Some(gate.keeping_tokens()), probes),
        false => (Some(gate), probes),
    })
}

/// Returns `true` if a server is shown tokens that are traded for those of callers.
pub(super) fn trades_tokens(settings: &GatewaySettings) -> bool {
    let mut servers = settings.servers.iter();
    servers.any(|server| server.credential.trades_tokens())
}

fn read_tokens(file: &Path) -> Result<StaticTokens, Failure> {
    let tokens = StaticTokens::from_file(file);
    Ok(tokens.with_context(|| format!("{} has no tokens of callers", file.display()))?)
}

fn resource_server(auth: &AuthTable, audience: Option<&str>) -> Result<ResourceServer, Failure> {
    let audience = auth.audience.as_deref().or(audience).ok_or_else(|| {
        let reason = "`[auth]` has no `audience`, the URL of the gateway that tokens name";
        Failure::usage(reason)
    })?;
    let (issuer, config) = (auth.issuer.as_str(), JwtConfig::default());
    let refused = |error: &dyn std::fmt::Display| Failure::usage(format!("`[auth]`: {error}"));
    let server = match (auth.jwks.as_deref(), &auth.ca) {
        (None, None) => {
            let keys = IssuerKeys::new(issuer).map_err(|error| refused(&error))?;
            ResourceServer::new(audience, issuer, keys, config)
        }
        (Some(url), ca) if url.contains("://") => {
            let keys = match ca {
                Some(ca) => {
                    let pem = std::fs::read(ca)
                        .with_context(|| format!("{} cannot be read", ca.display()))?;
                    JwksUrl::trusting(url, &pem)
                }
                None => JwksUrl::new(url),
            };
            let keys = keys.map_err(|error| refused(&error))?;
            ResourceServer::new(audience, issuer, keys, config)
        }
        (Some(file), None) => ResourceServer::new(audience, issuer, JwksFile::new(file), config),
        (_, Some(_)) => return Err(refused(&"`ca` needs `jwks` to be a URL")),
    };
    let scopes: Scopes = auth.scopes.iter().collect();
    let server = server.map_err(|error| refused(&error))?;
    Ok(server.offering(&scopes))
}
