//! The gateway: the backend of a server, made of other servers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use sterna_protocol::completion::{
    CompleteResult, CompletionArgument, CompletionContext, CompletionReference,
};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::http::{Check, Checking, Clock, Health, Probes};
use sterna_server::{Backend, BackendCall, BackendFuture, RequestError, Server, View, ViewRequest};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::approval::{Approvals, Passage};
use crate::audit::AuditLog;
use crate::calls::{Fleet, HeldCalls, RoutedCall, UpstreamCall};
use crate::config::{GatewayConfig, UpstreamConfig};
use crate::failure::{not_connected, of_call};
use crate::metrics::GatewayMetrics;
use crate::round_record::{RoundRecord, RoundRecorder};
use crate::server_set::{ServerSet, StartError};
use crate::upstream::{Freshness, Upstream};
use crate::view::{MergedView, Route};

/// A gateway in front of several servers. Cheap to clone.
///
/// See the [crate] for a whole program.
#[derive(Clone, Debug)]
pub struct Gateway(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    servers: RwLock<Arc<ServerSet>>,
    /// Held while servers are replaced.
    reloading: tokio::sync::Mutex<()>,
    /// Servers that are not offered any more, while calls use them.
    retired: Mutex<Vec<Arc<Upstream>>>,
    held: Arc<HeldCalls>,
    approvals: Approvals,
    recorder: RoundRecorder,
    /// Settings without the servers.
    limits: GatewayConfig,
    /// Ends with the gateway.
    _cleaning: JoinSet<()>,
}

impl Gateway {
    /// Connects to all servers and looks at what they offer. One that cannot be
    /// reached does not keep the gateway from starting: it is tried again.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to change.
    pub async fn start(config: GatewayConfig) -> Result<Self, StartError> {
        let audit = config.audit.as_ref().map(AuditLog::open).transpose();
        let recorder = RoundRecorder {
            audit: audit.map_err(StartError::Audit)?.map(Arc::new),
            metrics: GatewayMetrics::default(),
            clock: Clock::system(),
        };
        let servers = ServerSet::open(&config.servers, &config, &[]).await?;
        servers.count(&recorder.metrics);
        let store = config.store.as_ref();
        let fleet = store.and_then(|store| Fleet::new(store.to_arc(), config.held_for));
        let inner = Arc::new_cyclic(|inner: &Weak<Inner>| {
            let mut cleaning = JoinSet::new();
            cleaning.spawn(clean_up(inner.clone()));
            Inner {
                servers: RwLock::new(Arc::new(servers)),
                reloading: tokio::sync::Mutex::default(),
                retired: Mutex::default(),
                held: HeldCalls::new(&config, fleet),
                approvals: Approvals::new(&config),
                recorder,
                limits: GatewayConfig {
                    servers: Vec::new(),
                    ..config
                },
                _cleaning: cleaning,
            }
        });
        Ok(Self(inner))
    }

    /// Takes over other servers without losing a call: those that are configured as
    /// before keep their sessions, and calls that run or wait go on where they are.
    ///
    /// # Errors
    ///
    /// The servers cannot be offered together, or one of them cannot be used. The
    /// gateway goes on with those that it has.
    pub async fn reload(&self, servers: &[UpstreamConfig]) -> Result<(), StartError> {
        let _reloading = self.0.reloading.lock().await;
        let before = self.0.servers();
        let opened = ServerSet::open(servers, &self.0.limits, &before.upstreams).await?;
        let gone = before.without(&opened.upstreams);
        drop(before);
        *self
            .0
            .servers
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
        for upstream in &gone {
            self.0.recorder.metrics.up(upstream.name()).set(0);
        }
        self.0.retired().extend(gone);
        Ok(())
    }

    /// A server whose backend is this gateway, and whose `/readyz` names the
    /// servers that cannot be reached.
    pub fn server(&self, name: impl Into<String>, version: impl Into<String>) -> Server {
        let server = Server::new(name, version)
            .backend(self.clone())
            .probes(self.probes());
        match &self.0.limits.store {
            Some(store) => server.store(store.to_arc()),
            None => server,
        }
    }

    /// Probes of such a server, for a program that adds checks of its own.
    #[must_use]
    pub fn probes(&self) -> Probes {
        let registry = self.0.recorder.metrics.registry.clone();
        let reachable = Reachable(Arc::downgrade(&self.0));
        Probes::new().counting_in(registry).checking(reachable)
    }

    /// Cancels held calls and closes all sessions in good order: processes get the
    /// time to leave.
    pub async fn close(&self) {
        self.0.held.clear();
        let servers = self.0.servers();
        let retired = self.0.retired().clone();
        let all = servers.upstreams.iter().chain(&retired);
        let closing = all.map(|upstream| upstream.close_idle(None));
        futures::future::join_all(closing).await;
        if let Some(audit) = &self.0.recorder.audit {
            audit.flush().await;
        }
    }

    /// Sends a call to its server.
    async fn route<T: UpstreamCall>(
        self: Arc<Self>,
        method: &'static str,
        call: BackendCall,
        find: fn(&MergedView, &str) -> Option<Route>,
        unknown: fn(&str) -> RequestError,
    ) -> Result<Outcome<T>, RequestError> {
        let mut record = self.0.recorder.begin(method, &call);
        let served = match self.find(call, find, unknown, &mut record).await {
            Ok(routed) => routed.serve(&self.0.held).await,
            Err(error) => Err(error),
        };
        record.end(&served, |_| false).await;
        served
    }

    /// Serves a round of a tool, after the caller has approved the call if it must.
    async fn tool(
        &self,
        call: BackendCall,
        record: &mut RoundRecord,
    ) -> Result<Outcome<CallToolResult>, RequestError> {
        let find = |view: &MergedView, name: &str| view.routes.tool(name);
        let unknown = |name: &str| RequestError::invalid_params(format!("Unknown tool `{name}`"));
        let routed = self.find(call, find, unknown, record).await?;
        let server = Arc::clone(&routed.upstream);
        let passage = self.0.approvals.pass(routed).await;
        match passage.map_err(|reason| reason.of(server.name()))? {
            Passage::Ask(required) => Ok(Outcome::InputRequired(*required)),
            Passage::Declined(text) => {
                record.declined();
                Ok(Outcome::Complete(CallToolResult::error(text)))
            }
            Passage::Go(routed) => routed.serve(&self.0.held).await,
        }
    }

    /// Finds the server of a call.
    async fn find(
        &self,
        call: BackendCall,
        find: fn(&MergedView, &str) -> Option<Route>,
        unknown: fn(&str) -> RequestError,
        record: &mut RoundRecord,
    ) -> Result<RoutedCall, RequestError> {
        let servers = self.0.servers();
        let (caller, capabilities) = (call.caller(), call.capabilities());
        let view = servers.view(caller, capabilities, Freshness::ForCalls);
        let view = view.await;
        let Some(route) = find(&view, call.name()) else {
            return Err(unknown(call.name()));
        };
        let upstream = Arc::clone(&servers.upstreams[route.server]);
        record.goes_to(upstream.name());
        let key = upstream.key(caller, capabilities);
        Ok(RoutedCall::new(upstream, key, route, call))
    }
}

impl Backend for Gateway {
    fn view(self: Arc<Self>, request: ViewRequest) -> BackendFuture<Arc<View>> {
        Box::pin(async move {
            let freshness = match request.method() {
                "completion/complete" | "prompts/get" | "resources/read" | "tools/call" => {
                    Freshness::ForCalls
                }
                _ => Freshness::AsSaid,
            };
            let servers = self.0.servers();
            let finding = servers.view(request.caller(), request.capabilities(), freshness);
            Ok(Arc::clone(&finding.await.view))
        })
    }

    fn call_tool(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<CallToolResult>> {
        Box::pin(async move {
            let mut record = self.0.recorder.begin("tools/call", &call);
            let served = self.tool(call, &mut record).await;
            let is_error = |result: &CallToolResult| result.is_error == Some(true);
            record.end(&served, is_error).await;
            served
        })
    }

    fn get_prompt(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<GetPromptResult>> {
        let find = |view: &MergedView, name: &str| view.routes.prompt(name);
        let unknown = |name: &str| RequestError::invalid_params(format!("Unknown prompt `{name}`"));
        Box::pin(self.route("prompts/get", call, find, unknown))
    }

    fn read_resource(
        self: Arc<Self>,
        call: BackendCall,
    ) -> BackendFuture<Outcome<ReadResourceResult>> {
        let find = |view: &MergedView, uri: &str| view.routes.resource(uri);
        Box::pin(self.route("resources/read", call, find, RequestError::not_found))
    }

    fn complete(
        self: Arc<Self>,
        request: ViewRequest,
        reference: CompletionReference,
        argument: CompletionArgument,
        context: Option<CompletionContext>,
    ) -> BackendFuture<CompleteResult> {
        Box::pin(async move {
            let (caller, capabilities) = (request.caller(), request.capabilities());
            let servers = self.0.servers();
            let view = servers.view(caller, capabilities, Freshness::ForCalls);
            let view = view.await;
            let mut reference = reference;
            let route = match &mut reference {
                CompletionReference::Prompt(prompt) => {
                    let route = view.routes.prompt(&prompt.name);
                    if let Some(route) = &route {
                        prompt.name.clone_from(&route.name);
                    }
                    route
                }
                CompletionReference::ResourceTemplate(template) => {
                    view.routes.template(&template.uri)
                }
                _ => None,
            };
            let unknown = || RequestError::invalid_params("`ref` names nothing that is offered");
            let upstream = &servers.upstreams[route.ok_or_else(unknown)?.server];
            let key = upstream.key(caller, capabilities);
            let session = upstream.session(&key, capabilities).await;
            let session = session.map_err(|reason| reason.of(upstream.name()))?;
            let completed = session.client.complete(reference, argument, context).await;
            let completion = completed.map_err(|error| match error.rpc() {
                Some(_) => of_call(upstream.name(), &error),
                None => not_connected(&error).of(upstream.name()),
            })?;
            Ok(CompleteResult::new(completion))
        })
    }
}

/// Says which servers cannot be reached. The gateway is ready while one can.
struct Reachable(Weak<Inner>);

impl Check for Reachable {
    fn name(&self) -> &'static str {
        "upstreams"
    }

    fn check(&self) -> Checking {
        let Some(inner) = self.0.upgrade() else {
            return Box::pin(std::future::ready(Health::failing()));
        };
        let troubled = |upstream: &Arc<Upstream>| {
            let reason = upstream.trouble()?;
            Some(format!("{}: {}", upstream.name(), reason.label()))
        };
        let servers = inner.servers();
        let troubled: Vec<_> = servers.upstreams.iter().filter_map(troubled).collect();
        let health = match troubled.len() == servers.upstreams.len() {
            true => Health::failing(),
            false => Health::passing(),
        };
        Box::pin(std::future::ready(health.with_ids(troubled)))
    }
}

/// Closes sessions, views and held calls that were not used for their time, and
/// tries servers again that could not be reached.
async fn clean_up(inner: Weak<Inner>) {
    loop {
        tokio::time::sleep(CLEANING).await;
        let Some(inner) = inner.upgrade() else {
            return;
        };
        let now = Instant::now();
        inner.held.expire(now);
        let retired = std::mem::take(&mut *inner.retired());
        for upstream in retired {
            let is_left = upstream.close_unused().await;
            // A call that has just found it may open a session yet.
            if is_left || Arc::strong_count(&upstream) > 1 {
                inner.retired().push(upstream);
            }
        }
        if let Some(before) = now.checked_sub(inner.limits.idle) {
            inner.servers().clean_up(before).await;
        }
        let metrics = &inner.recorder.metrics;
        inner.servers().count(metrics);
        metrics.held().set(inner.held.count());
    }
}

impl Inner {
    fn servers(&self) -> Arc<ServerSet> {
        Arc::clone(&self.servers.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn retired(&self) -> MutexGuard<'_, Vec<Arc<Upstream>>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time between two looks at what is not used any more.
const CLEANING: Duration = Duration::from_secs(5);
