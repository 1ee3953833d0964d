//! From what an author said to a server that can run.

use std::sync::Arc;

use ring::digest::{Context, SHA256};
use sterna_flow::Engine;
use sterna_protocol::capabilities::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability,
};
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::json::JsonObject;
use sterna_protocol::legacy::{
    InitializeResult, ServerTaskRequests, ServerTasksCapability, ToolTasks,
};
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::version::ProtocolVersion;
use sterna_seal::{Keyring, Realm, SharedKeyring, ThreadEntropy};

use super::keys_ready::KeysReady;
use super::{BuildError, Server, Service};
use crate::auth::Gate;
use crate::changes::Changes;
use crate::core::Core;
use crate::legacy::Desk;
use crate::modern::{Lists, discover, signature};
use crate::offer::{Extensions, Offers};
use crate::tasks::{self, StoreReady, TaskMode, Tasks};
use crate::telemetry::Numbers;

pub(super) fn build(server: Server) -> Result<Service, BuildError> {
    let Server {
        info,
        instructions,
        offers: offered,
        extensions: spoken,
        states,
        keys,
        store,
        remembers_rounds,
        gate,
        probes,
        hooks,
        mut edge,
        legacy,
        config,
    } = server;
    let mut problems = Vec::new();
    let mut offers = Offers::default();
    for offer in offered {
        if let Err(problem) = offers.put(offer) {
            problems.push(problem);
        }
    }
    let mut extensions = Extensions::default();
    for extension in spoken {
        if let Err(problem) = extensions.put(extension) {
            problems.push(problem);
        }
    }
    problems.extend(missing_store(&offers, store.is_some()));
    if remembers_rounds && store.is_none() {
        problems
            .push("MR0401: rounds are remembered in a ledger, and the server has no store".into());
    }
    let runs_tasks = offers
        .tools
        .iter()
        .any(|tool| tool.task.mode != TaskMode::Never);
    if store.is_some()
        && runs_tasks
        && let Err(problem) = extensions.put(tasks::extension())
    {
        problems.push(problem);
    }
    let has_keys = keys.is_some();
    let keys = match keys {
        Some(keys) => keys,
        None => match Keyring::generate(&mut ThreadEntropy) {
            Ok(ring) => Arc::new(SharedKeyring::new(ring)),
            Err(error) => return Err(BuildError::new(vec![error.to_string()])),
        },
    };
    if !problems.is_empty() {
        return Err(BuildError::new(problems));
    }
    let capabilities = declare(&offers, &extensions);
    let mut hello = InitializeResult::new(
        ProtocolVersion::V2025_11_25,
        without_extensions(&capabilities).into(),
        info.clone(),
    );
    hello.instructions.clone_from(&instructions);
    hello.capabilities.tasks = (store.is_some() && runs_tasks).then(session_tasks);
    let mut found = DiscoverResult::new(vec![ProtocolVersion::V2026_07_28], capabilities);
    found.instructions = instructions;
    let meta = ResultMeta::of(info.clone());
    edge.legacy &= legacy;
    let audience = config.audience.as_deref().unwrap_or(&info.name);
    let mut probes = probes;
    let realm = [audience, config.tenant.as_deref().unwrap_or_default()].join("\n");
    let tasks = store.map(|store| {
        probes = std::mem::take(&mut probes).checking(StoreReady(Arc::clone(&store)));
        Arc::new(Tasks::new(store, config.tasks, realm.into_bytes()))
    });
    let core = Core {
        tasks,
        remembers_rounds,
        version: config.flow.version,
        realm: Realm::new(audience, config.tenant.as_deref()),
        signature: signature(&meta),
        discover: discover(found, &config.caching, &meta),
        lists: Lists::write(&offers, &config.caching, config.page, &meta),
        hello,
        legacy_lists: Lists::write_legacy(&offers, config.page),
        older_lists: Lists::write_older(&offers, config.page),
        legacy: edge.legacy,
        desk: Desk::new(),
        keys,
        lifetimes: config.lifetimes,
        reload_keys: config.reload_keys,
        budget: config.budget,
        limits: config.flow.limits.clone(),
        max_rounds: config.flow.max_rounds,
        build: build_id(&info.name, &info.version),
        engine: Arc::new(Engine::new(sha256).settings(config.flow)),
        overloaded: config.overloaded,
        changes: Changes::default(),
        states,
        hooks,
        numbers: Numbers::new(probes.registry(), &offers, &extensions),
        offers,
        extensions,
        info,
    };
    let probes = probes.checking(KeysReady(Arc::clone(&core.keys)));
    let has_gate = gate.is_some();
    let gate = gate.unwrap_or_else(Gate::open);
    Service::new(Arc::new(core), gate, probes, edge, has_keys, has_gate)
        .map_err(|error| BuildError::new(vec![error.to_string()]))
}

/// What tools need of a store that is not there.
fn missing_store(offers: &Offers, has_store: bool) -> Vec<String> {
    if has_store {
        return Vec::new();
    }
    let tools = offers.tools.iter();
    let missing = tools.filter_map(|tool| {
        let name = &tool.wire.name;
        if tool.task.mode != TaskMode::Never {
            return Some(format!(
                "MR0400: the tool `{name}` runs as a task, and the server has no store"
            ));
        }
        tool.needs_ledger.then(|| {
            format!("MR0401: the tool `{name}` needs a ledger, and the server has no store")
        })
    });
    missing.collect()
}

/// What is really there is declared, and nothing else (DISC-S2).
fn declare(offers: &Offers, extensions: &Extensions) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::default();
    if !offers.tools.is_empty() {
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        capabilities.tools = Some(tools);
    }
    if !offers.prompts.is_empty() {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        capabilities.prompts = Some(prompts);
    }
    if offers.has_resources() {
        let mut resources = ResourcesCapability::default();
        resources.list_changed = Some(true);
        resources.subscribe = Some(true);
        capabilities.resources = Some(resources);
    }
    capabilities.completions = offers.completes().then(JsonObject::new);
    // LOG-S1: every handler has a log.
    capabilities.logging = Some(JsonObject::new());
    for (id, settings) in extensions.declared() {
        let declared = capabilities.extensions.get_or_insert_default();
        declared.insert(id.to_string(), settings.clone());
    }
    capabilities
}

/// What sessions of 2025-11-25 can do with tasks.
fn session_tasks() -> ServerTasksCapability {
    let mut tools = ToolTasks::default();
    tools.call = Some(JsonObject::new());
    let mut requests = ServerTaskRequests::default();
    requests.tools = Some(tools);
    let mut tasks = ServerTasksCapability::default();
    tasks.list = Some(JsonObject::new());
    tasks.cancel = Some(JsonObject::new());
    tasks.requests = Some(requests);
    tasks
}

/// Extensions are spoken at 2026-07-28 alone.
fn without_extensions(capabilities: &ServerCapabilities) -> ServerCapabilities {
    let mut capabilities = capabilities.clone();
    capabilities.extensions = None;
    capabilities
}

fn build_id(name: &str, version: &str) -> [u8; 8] {
    let hash = sha256(&[name.as_bytes(), b"\n", version.as_bytes()]);
    let mut id = [0; 8];
    id.copy_from_slice(&hash[..8]);
    id
}

/// The hash that flows take their fingerprints from.
fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(part);
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
