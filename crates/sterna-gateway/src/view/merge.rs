use std::fmt;
use std::sync::Arc;

use serde_json::json;
use sterna_protocol::caching::Caching;
use sterna_protocol::json::RawJson;
use sterna_server::View;

use super::routes::{Route, Routes};
use crate::failure::Reason;
use crate::upstream::{ServerLists, Upstream};

/// Lists of one server, or the reason that there are none.
type Listed = Result<Arc<ServerLists>, Reason>;

/// Lists of all servers as one, in the order of the configuration.
#[derive(Debug)]
pub(crate) struct MergedView {
    pub(crate) view: Arc<View>,
    pub(crate) routes: Routes,
    /// Names that two servers have. The first server keeps its own.
    pub(crate) collisions: Vec<Collision>,
    /// Lists that it was made of.
    parts: Vec<Listed>,
}

/// A name that two servers offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Collision {
    kind: &'static str,
    name: String,
    servers: [String; 2],
}

impl Collision {
    /// The server whose name is not offered.
    pub(crate) fn second(&self) -> &str {
        &self.servers[1]
    }
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            name,
            servers,
        } = self;
        let [first, second] = servers;
        write!(
            f,
            "the servers `{first}` and `{second}` both offer the {kind} `{name}`"
        )
    }
}

impl MergedView {
    /// Returns `true` if it was made of these lists.
    pub(super) fn is_of(&self, lists: &[Listed]) -> bool {
        let same = |(one, other): (&Listed, &Listed)| match (one, other) {
            (Ok(one), Ok(other)) => Arc::ptr_eq(one, other),
            (Err(one), Err(other)) => one == other,
            _ => false,
        };
        self.parts.len() == lists.len() && self.parts.iter().zip(lists).all(same)
    }

    pub(super) fn of(upstreams: &[Arc<Upstream>], parts: Vec<Listed>) -> Self {
        let mut merge = Merge::default();
        for (server, (upstream, listed)) in upstreams.iter().zip(&parts).enumerate() {
            match listed {
                Ok(lists) => merge.add(server, upstreams, lists),
                Err(reason) => merge.unavailable.push((upstream.name(), *reason)),
            }
        }
        let Merge {
            mut view,
            routes,
            collisions,
            ttl_ms,
            unavailable,
        } = merge;
        // A server that comes back is to be seen at once.
        let ttl_ms = ttl_ms
            .filter(|_| unavailable.is_empty())
            .unwrap_or_default();
        view.caching = Caching::new(ttl_ms, Caching::NONE.scope);
        if !unavailable.is_empty() {
            let shown = unavailable.iter();
            let shown =
                shown.map(|(name, reason)| json!({"server": name, "reason": reason.label()}));
            let shown: serde_json::Value = shown.collect();
            view.meta.insert(UNAVAILABLE, RawJson::from(shown));
        }
        Self {
            view: Arc::new(view),
            routes,
            collisions,
            parts,
        }
    }
}

#[derive(Default)]
struct Merge<'a> {
    view: View,
    routes: Routes,
    collisions: Vec<Collision>,
    /// Smallest lifetime of all servers that are there.
    ttl_ms: Option<u64>,
    unavailable: Vec<(&'a str, Reason)>,
}

impl Merge<'_> {
    fn add(&mut self, server: usize, upstreams: &[Arc<Upstream>], lists: &ServerLists) {
        let config = &upstreams[server].config;
        let route = |name: &str| Route {
            server,
            name: name.to_owned(),
            may_reissue: false,
        };
        let collision = |kind, name: &str, first: usize| Collision {
            kind,
            name: name.to_owned(),
            servers: [first, server].map(|one| upstreams[one].name().to_owned()),
        };
        for tool in &lists.tools {
            if !config.tools.admits(&tool.name) {
                continue;
            }
            let name = format!("{}{}", config.prefix, tool.name);
            if let Some(first) = self.routes.tools.get(&name) {
                self.collisions.push(collision("tool", &name, first.server));
                continue;
            }
            let may_reissue = config.may_reissue(tool);
            let routed = Route {
                may_reissue,
                ..route(&tool.name)
            };
            self.routes.tools.insert(name.clone(), routed);
            let mut tool = tool.clone();
            tool.name = name;
            self.view.tools.push(tool);
        }
        for prompt in &lists.prompts {
            if !config.prompts.admits(&prompt.name) {
                continue;
            }
            let name = format!("{}{}", config.prefix, prompt.name);
            if let Some(first) = self.routes.prompts.get(&name) {
                self.collisions
                    .push(collision("prompt", &name, first.server));
                continue;
            }
            self.routes
                .prompts
                .insert(name.clone(), route(&prompt.name));
            let mut prompt = prompt.clone();
            prompt.name = name;
            self.view.prompts.push(prompt);
        }
        // A URI is inside of results too, so it stays as it is; the first server keeps it.
        for resource in &lists.resources {
            let uri = &resource.uri;
            if config.resources.admits(uri) && !self.routes.resources.contains_key(uri) {
                self.routes.resources.insert(uri.clone(), server);
                self.view.resources.push(resource.clone());
            }
        }
        for template in &lists.templates {
            let pattern = &template.uri_template;
            if config.resources.admits(pattern) && self.routes.template(pattern).is_none() {
                let start = pattern.split('{').next().unwrap_or_default().to_owned();
                self.routes.templates.push((pattern.clone(), start, server));
                self.view.resource_templates.push(template.clone());
            }
        }
        if !(lists.resources.is_empty() && lists.templates.is_empty()) {
            self.routes.with_resources.push(server);
        }
        let ttl = lists.caching.ttl_ms;
        self.ttl_ms = Some(self.ttl_ms.map_or(ttl, |least| least.min(ttl)));
    }
}

/// Member of the lists' `_meta` that names the servers which are not there.
const UNAVAILABLE: &str = "io.github.sterna-mcp/unavailable";
