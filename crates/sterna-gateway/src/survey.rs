//! A look at each server: what to expect of it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use sterna_client::{Client, Era};
use sterna_protocol::capabilities::{
    ClientCapabilities, ElicitationCapability, SamplingCapability,
};
use sterna_protocol::json::JsonObject;
use sterna_server::auth::Caller;

use crate::config::{ConfigError, Credential, GatewayConfig};
use crate::upstream::{Freshness, Upstream};
use crate::view::Views;

/// Survival of a call that waits for its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Survival {
    /// The client carries the place of the call in its session: any gateway with the
    /// same keys goes on, until the server restarts or ends the session.
    Carried,
    /// The client carries all of it: any gateway with the same keys goes on.
    Forwarded,
    /// This gateway keeps a connection or a process: a restart of it ends the
    /// call.
    Held,
}

impl fmt::Display for Survival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Carried => "carried",
            Self::Forwarded => "forwarded",
            Self::Held => "held",
        })
    }
}

/// Findings about one server.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Surveyed {
    /// Name of the server.
    pub server: String,
    /// `http` or `stdio`.
    pub transport: &'static str,
    /// Credential that it is shown: `headers`, `client`, `exchange` or `none`.
    pub credential: &'static str,
    /// `modern`, `legacy`, or `None` if the server cannot be reached.
    pub era: Option<&'static str>,
    /// Revision that it speaks, and its name and version of itself.
    pub version: Option<String>,
    /// Numbers of tools, prompts, resources and resource templates that are
    /// offered.
    pub tools: usize,
    /// Number of prompts.
    pub prompts: usize,
    /// Number of resources.
    pub resources: usize,
    /// Number of resource templates.
    pub templates: usize,
    /// Questions that it asked as soon as it was connected, by their methods.
    pub asks: Vec<&'static str>,
    /// Survival of its calls.
    pub survival: Option<Survival>,
    /// Reason that it cannot be used, and names that an earlier server has.
    pub problems: Vec<String>,
}

/// Looks at all servers as a client that can be asked everything.
///
/// # Errors
///
/// The configuration cannot be used.
pub async fn survey(config: &GatewayConfig) -> Result<Vec<Surveyed>, ConfigError> {
    let servers = config.servers.iter().cloned();
    let upstreams = servers.map(|server| Upstream::new(server, config).map(Arc::new));
    let upstreams: Vec<_> = upstreams.collect::<Result<_, _>>()?;
    let (anonymous, everything) = (Caller::anonymous(), everything());
    let views = Views::default();
    let merged = views
        .find(&upstreams, &anonymous, &everything, Freshness::AsSaid)
        .await;
    let mut all = Vec::new();
    for upstream in &upstreams {
        all.push(look(upstream, &anonymous, &everything).await);
    }
    for collision in &merged.collisions {
        let last = collision.second();
        if let Some(found) = all.iter_mut().find(|one| one.server == last) {
            found.problems.push(collision.to_string());
        }
    }
    for upstream in &upstreams {
        upstream.close_idle(None).await;
    }
    Ok(all)
}

async fn look(
    upstream: &Arc<Upstream>,
    anonymous: &Caller,
    declared: &ClientCapabilities,
) -> Surveyed {
    let key = upstream.key(anonymous, declared);
    let mut found = Surveyed {
        server: upstream.name().to_owned(),
        transport: upstream.config.connection.transport(),
        credential: match upstream.config.connection.has_headers() {
            true if upstream.config.credential == Credential::None => "headers",
            _ => upstream.config.credential.label(),
        },
        era: None,
        version: None,
        tools: 0,
        prompts: 0,
        resources: 0,
        templates: 0,
        asks: Vec::new(),
        survival: None,
        problems: Vec::new(),
    };
    if upstream.config.credential.trades_tokens() {
        // What it offers is for its callers, and nobody calls here.
        if let Err(reason) = upstream.reach().await {
            found.problems.push(reason.label().to_owned());
        }
        return found;
    }
    let (session, lists) = (
        upstream.session(&key, declared).await,
        upstream.lists(&key, declared, Freshness::AsSaid).await,
    );
    let (session, lists) = match (session, lists) {
        (Ok(session), Ok(lists)) => (session, lists),
        (Err(reason), _) | (_, Err(reason)) => {
            found.problems.push(reason.label().to_owned());
            return found;
        }
    };
    let config = &upstream.config;
    found.tools = lists
        .tools
        .iter()
        .filter(|one| config.tools.admits(&one.name))
        .count();
    found.prompts = lists
        .prompts
        .iter()
        .filter(|one| config.prompts.admits(&one.name))
        .count();
    let resources = lists.resources.iter();
    found.resources = resources
        .filter(|one| config.resources.admits(&one.uri))
        .count();
    let templates = lists.templates.iter();
    found.templates = templates
        .filter(|one| config.resources.admits(&one.uri_template))
        .count();
    found.version = version(&session.client);
    let is_legacy = session.client.era() == Era::Legacy;
    found.era = Some(if is_legacy { "legacy" } else { "modern" });
    let is_resumed = config.resume && session.client.has_resumable_streams();
    found.survival = Some(match (is_legacy, is_resumed) {
        (false, _) => Survival::Forwarded,
        (true, true) => Survival::Carried,
        (true, false) => Survival::Held,
    });
    if is_legacy {
        tokio::time::sleep(FIRST_QUESTIONS).await;
        found.asks = session.outside.asked();
    }
    found
}

/// Name and version of the server, as it says them itself.
fn version(client: &Client) -> Option<String> {
    let info = client.server().meta.as_ref()?.server_info.as_ref()?;
    Some(format!("{} {}", info.name, info.version))
}

/// Capabilities of a client that can be asked everything.
fn everything() -> ClientCapabilities {
    let mut all = ClientCapabilities::default();
    all.elicitation = Some(ElicitationCapability::form_and_url());
    all.sampling = Some(SamplingCapability::with_tools());
    all.roots = Some(JsonObject::new());
    all
}

/// Time in which servers ask for the roots after a session was opened.
const FIRST_QUESTIONS: Duration = Duration::from_millis(600);
