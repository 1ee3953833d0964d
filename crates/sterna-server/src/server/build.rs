//! Builds a service from the settings of its author.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use ring::digest::{Context, SHA256};
use sterna_flow::Engine;
use sterna_http::auth::Gate;
use sterna_protocol::caching::CacheScope;
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::meta::ResultMeta;
use sterna_runner::KeyReloader;
use sterna_seal::{KeySource, Keyring, Realm, ReloadError, SharedKeyring, ThreadEntropy};

use super::reload::{KeysReady, read_keys};
use super::service::Manner;
use super::{BuildError, GivenKeys, Server, ServerConfig, Service, ShowMistakes};
use crate::backend::Backed;
use crate::catalog::{Catalog, Extension, Extensions};
use crate::changes::Changes;
use crate::core::{Core, MistakesShown};
use crate::current::{CurrentCore, ReplaceableCore};
use crate::environment::Environment;
use crate::lists::Profile;
use crate::reply::signature;
use crate::session_table::SessionTable;
use crate::task_mode::TaskMode;
use crate::tasks::{Build, StoreReady, Tasks};
use crate::telemetry::{McpMetrics, MetricNames};
use crate::v2026::served_methods;

pub(super) fn build(server: Server) -> Result<Service, BuildError> {
    let Server {
        info,
        instructions,
        offers: offered,
        extensions: spoken,
        backend,
        states,
        keys,
        store,
        remembers_rounds,
        sep2322_tasks,
        gate,
        probes,
        middleware,
        flow_ids,
        mut http,
        serves_sessions,
        changing,
        is_serverless,
        config,
        logs_to_stderr,
    } = server;
    let mut problems = Vec::new();
    let mut offers = match backend {
        Some(_) => Catalog::of_backend(),
        None => Catalog {
            changing,
            ..Catalog::default()
        },
    };
    if backend.is_some() && (changing || !offered.is_empty()) {
        problems.push(BACKEND_AND_CATALOG.to_owned());
    }
    for offer in offered {
        if let Err(problem) = offers.put(offer, &states) {
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
    let sep2322_tasks = sep2322_tasks && store.is_some() && offers.may_run_tasks();
    if store.is_some() && offers.may_run_tasks() {
        // TASK-S21
        if let Err(problem) = extensions.put(Extension::new(ExtensionId::TASKS.as_str())) {
            problems.push(problem);
        }
        for method in served_methods(sep2322_tasks) {
            if extensions.method(method).is_some() {
                problems.push(format!("the method `{method}` is there twice"));
            }
        }
    }
    if is_serverless {
        problems.extend(needs_a_process(offers.changing, &config));
    }
    let has_keys = keys.is_some();
    let keys = match keys {
        Some(GivenKeys::Shared(keys)) => keys,
        Some(GivenKeys::Source(source)) => match read_keys(&source, http.clock.now().into()) {
            Ok(keys) => Arc::new(keys),
            Err(error) => {
                problems.push(unusable_keys(&*source, &error));
                return Err(BuildError::new(problems));
            }
        },
        None => match Keyring::generate(&mut ThreadEntropy) {
            Ok(ring) => Arc::new(SharedKeyring::new(ring)),
            Err(error) => return Err(BuildError::new(vec![error.to_string()])),
        },
    };
    if !problems.is_empty() {
        return Err(BuildError::new(problems));
    }
    let has_gate = gate.is_some();
    let gate = gate.unwrap_or_else(Gate::open);
    let mut caching = config.caching;
    if gate.hides() {
        // CACHE-S4: what one caller sees is nothing for another.
        caching.scope = CacheScope::Private;
    }
    let profile = Profile {
        instructions,
        caching,
        page: config.page,
        has_store: store.is_some(),
        sep2322_tasks,
        is_serverless,
    };
    http.get_and_delete &= serves_sessions && !is_serverless;
    let audience = config.audience.as_deref().unwrap_or(&info.name);
    let build = build_id(&info.name, &info.version);
    let made_by = Build {
        id: build,
        version: config.flow.version,
    };
    let mut probes = probes;
    let realm = [audience, config.tenant.as_deref().unwrap_or_default()].join("\n");
    let tasks = store.map(|store| {
        let tasks = Arc::new(Tasks::new(
            store,
            config.tasks,
            realm.into_bytes(),
            made_by,
            http.clock.clone(),
            flow_ids.clone(),
        ));
        probes = std::mem::take(&mut probes).checking(StoreReady(Arc::clone(&tasks)));
        tasks
    });
    let session_lifetime = config.session_lifetime.unwrap_or(match tasks {
        Some(_) => Duration::from_secs(24 * 60 * 60),
        None => Duration::from_secs(8 * 60 * 60),
    });
    let names = metric_names(&offers, &extensions, &profile);
    let metrics = McpMetrics::new(probes.registry(), &names);
    let key_reloader = KeyReloader::new(
        Arc::clone(&keys),
        config.reload_keys,
        http.clock.now().into(),
    );
    let core = Core {
        tasks,
        session_lifetime,
        remembers_rounds,
        sep2322_tasks,
        version: config.flow.version,
        realm: Realm::new(audience, config.tenant.as_deref()),
        signature: signature(&ResultMeta::of(info.clone())),
        cached: Arc::new(profile.show(&info, &offers, &extensions)),
        profile: Arc::new(profile),
        serves_sessions: http.get_and_delete,
        session_table: Arc::new(SessionTable::new()),
        keys,
        clock: http.clock.clone(),
        flow_ids,
        lifetimes: config.lifetimes,
        key_reloader,
        budget: config.budget,
        limits: config.flow.limits.clone(),
        max_rounds: config.flow.max_rounds,
        build,
        engine: Arc::new(Engine::new(sha256).settings(config.flow).build(build)),
        overloaded: config.overloaded,
        mistakes: Arc::new(match config.show_mistakes {
            ShowMistakes::ToEveryClient => MistakesShown::to_all(),
            ShowMistakes::InDevelopment | ShowMistakes::Never => MistakesShown::to_none(),
        }),
        environment: Arc::new(Environment {
            changes: Changes::default(),
            states,
        }),
        gate,
        middleware: middleware.into(),
        metrics: Arc::new(metrics),
        offers: Arc::new(offers),
        backend: backend.map(|backend| Backed {
            backend,
            sender: None,
        }),
        extensions: Arc::new(extensions),
        info,
    };
    let probes = probes.checking(KeysReady {
        keys: Arc::clone(&core.keys),
        reloader: Arc::clone(&core.key_reloader),
        clock: core.clock.clone(),
    });
    let gate = core.gate.clone();
    let core = Arc::new(core);
    let current = if changing {
        let changing = Arc::new(ReplaceableCore::new(Arc::clone(&core)));
        let server: Arc<dyn Any + Send + Sync> = Arc::clone(&changing) as _;
        core.environment.changes.set_server(Arc::downgrade(&server));
        CurrentCore::Replaceable(changing)
    } else {
        CurrentCore::Fixed(core)
    };
    let manner = Manner {
        has_keys,
        has_gate,
        announces: config.announce,
        logs_to_stderr,
        show_mistakes: config.show_mistakes,
    };
    Service::new(current, gate, probes, http, manner)
        .map_err(|error| BuildError::new(vec![error.to_string()]))
}

/// Names of a server that have a duration of their own.
pub(super) fn metric_names<'a>(
    offers: &'a Catalog,
    extensions: &'a Extensions,
    profile: &Profile,
) -> MetricNames<'a> {
    let mut methods: Vec<&str> = extensions.methods().map(String::as_str).collect();
    if profile.has_store && offers.may_run_tasks() {
        for method in served_methods(profile.sep2322_tasks) {
            methods.push(method);
        }
    }
    MetricNames {
        tools: offers.tools.names().collect(),
        prompts: offers.prompts.names().collect(),
        methods,
    }
}

/// Problems of tools that need a store, for a server that has none.
pub(super) fn missing_store(offers: &Catalog, has_store: bool) -> Vec<String> {
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
        tool.requires_store
            .then(|| format!("MR0401: the tool `{name}` requires a store, and the server has none"))
    });
    missing.collect()
}

/// Settings of a serverless server that only a process which lives on can have.
fn needs_a_process(changing: bool, config: &ServerConfig) -> Vec<String> {
    let mut problems = Vec::new();
    let mut refuse = |setting, why| {
        problems.push(format!(
            "MR0213: `{setting}` needs a process that lives on: {why}; \
             leave it out, or leave out `serverless`"
        ));
    };
    if changing {
        refuse(
            "Server::dynamic_lists",
            "a change is announced to clients that listen, and reaches this process alone",
        );
    }
    if config.session_lifetime.is_some() {
        refuse(
            "ServerConfig::session_lifetime",
            "sessions of the earlier revisions have a stream that stays open",
        );
    }
    problems
}

fn unusable_keys(source: &dyn KeySource, error: &ReloadError) -> String {
    let mut text = format!("MR0208: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    match source.path() {
        Some(path) => {
            let path = path.display();
            text + &format!("; make a key file with `sterna keys new {path}`")
        }
        None => text,
    }
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

const BACKEND_AND_CATALOG: &str = "MR0214: a server with a backend offers what that has: leave out \
     `Server::backend`, or the tools, prompts and resources and `Server::dynamic_lists`";
