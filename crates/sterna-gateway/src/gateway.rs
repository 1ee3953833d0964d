//! The gateway: the backend of a server, made of other servers.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::completion::{
    CompleteResult, CompletionArgument, CompletionContext, CompletionReference,
};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::auth::Caller;
use sterna_server::http::{Check, Checking, Health, Probes};
use sterna_server::{Backend, BackendCall, BackendFuture, RequestError, Server, View, ViewRequest};
use thiserror::Error;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::approval::{Approvals, Passage};
use crate::calls::{HeldCalls, RoutedCall, UpstreamCall};
use crate::config::{ConfigError, GatewayConfig};
use crate::failure::{not_connected, of_call};
use crate::upstream::{Freshness, Upstream};
use crate::view::{MergedView, Views};

/// A gateway in front of several servers. Cheap to clone.
///
/// See the [crate] for a whole program.
#[derive(Clone, Debug)]
pub struct Gateway(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    upstreams: Vec<Arc<Upstream>>,
    views: Views,
    held: Arc<HeldCalls>,
    approvals: Approvals,
    idle: Duration,
    /// Ends with the gateway.
    _cleaning: JoinSet<()>,
}

/// The gateway cannot start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// Two servers offer something under one name.
    #[error("MR0904: {collisions}; give one of them a `prefix`, or deny it in one of them")]
    Collision {
        /// The names, each with its two servers.
        collisions: String,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration names no server.
    #[error("the configuration names no server")]
    NoServer,
}

impl Gateway {
    /// Connects to all servers and looks at what they offer. One that cannot be
    /// reached does not keep the gateway from starting: it is tried again.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to change.
    pub async fn start(config: GatewayConfig) -> Result<Self, StartError> {
        if config.servers.is_empty() {
            return Err(StartError::NoServer);
        }
        let servers = config.servers.iter().cloned();
        let upstreams = servers.map(|server| Upstream::new(server, &config).map(Arc::new));
        let upstreams: Vec<_> = upstreams.collect::<Result<_, _>>()?;
        let views = Views::default();
        let (anonymous, nothing) = (Caller::anonymous(), ClientCapabilities::default());
        let seen = views
            .find(&upstreams, &anonymous, &nothing, Freshness::AsSaid)
            .await;
        if !seen.collisions.is_empty() {
            for upstream in &upstreams {
                upstream.close_idle(None).await;
            }
            let shown: Vec<_> = seen.collisions.iter().map(ToString::to_string).collect();
            let collisions = shown.join("; ");
            return Err(StartError::Collision { collisions });
        }
        let held = Arc::new(HeldCalls::new(&config));
        let approvals = Approvals::new(&config);
        let idle = config.idle;
        let inner = Arc::new_cyclic(|inner: &Weak<Inner>| {
            let mut cleaning = JoinSet::new();
            cleaning.spawn(clean_up(inner.clone()));
            Inner {
                upstreams,
                views,
                held,
                approvals,
                idle,
                _cleaning: cleaning,
            }
        });
        Ok(Self(inner))
    }

    /// A server whose backend is this gateway, and whose `/readyz` names the
    /// servers that cannot be reached.
    pub fn server(&self, name: impl Into<String>, version: impl Into<String>) -> Server {
        Server::new(name, version)
            .backend(self.clone())
            .probes(self.probes())
    }

    /// Probes of such a server, for a program that adds checks of its own.
    #[must_use]
    pub fn probes(&self) -> Probes {
        Probes::new().checking(Reachable(Arc::downgrade(&self.0)))
    }

    /// Cancels held calls and closes all sessions in good order: processes get the
    /// time to leave.
    pub async fn close(&self) {
        self.0.held.clear();
        let closing = self
            .0
            .upstreams
            .iter()
            .map(|upstream| upstream.close_idle(None));
        futures::future::join_all(closing).await;
    }

    async fn view_of(&self, call: &BackendCall, freshness: Freshness) -> Arc<MergedView> {
        let Inner {
            views, upstreams, ..
        } = &*self.0;
        views
            .find(upstreams, call.caller(), call.capabilities(), freshness)
            .await
    }

    /// Sends a call to its server.
    async fn route<T: UpstreamCall>(
        self: Arc<Self>,
        call: BackendCall,
        find: fn(&MergedView, &str) -> Option<(usize, String)>,
        unknown: fn(&str) -> RequestError,
    ) -> Result<Outcome<T>, RequestError> {
        let routed = self.find(call, find, unknown).await?;
        routed.serve(&self.0.held).await
    }

    /// Finds the server of a call.
    async fn find(
        &self,
        call: BackendCall,
        find: fn(&MergedView, &str) -> Option<(usize, String)>,
        unknown: fn(&str) -> RequestError,
    ) -> Result<RoutedCall, RequestError> {
        let view = self.view_of(&call, Freshness::ForCalls).await;
        let Some((server, name)) = find(&view, call.name()) else {
            return Err(unknown(call.name()));
        };
        let upstream = Arc::clone(&self.0.upstreams[server]);
        Ok(RoutedCall {
            key: upstream.key(call.caller(), call.capabilities()),
            upstream,
            name,
            call,
        })
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
            let Inner {
                views, upstreams, ..
            } = &*self.0;
            let caller = request.caller();
            let finding = views.find(upstreams, caller, request.capabilities(), freshness);
            Ok(Arc::clone(&finding.await.view))
        })
    }

    fn call_tool(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<CallToolResult>> {
        let find = |view: &MergedView, name: &str| {
            view.routes
                .tool(name)
                .map(|route| (route.server, route.name))
        };
        let unknown = |name: &str| RequestError::invalid_params(format!("Unknown tool `{name}`"));
        Box::pin(async move {
            let routed = self.find(call, find, unknown).await?;
            let server = Arc::clone(&routed.upstream);
            let passage = self.0.approvals.pass(routed).await;
            match passage.map_err(|reason| reason.of(server.name()))? {
                Passage::Ask(required) => Ok(Outcome::InputRequired(*required)),
                Passage::Declined(text) => Ok(Outcome::Complete(CallToolResult::error(text))),
                Passage::Go(routed) => routed.serve(&self.0.held).await,
            }
        })
    }

    fn get_prompt(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<GetPromptResult>> {
        let find = |view: &MergedView, name: &str| {
            view.routes
                .prompt(name)
                .map(|route| (route.server, route.name))
        };
        let unknown = |name: &str| RequestError::invalid_params(format!("Unknown prompt `{name}`"));
        Box::pin(self.route(call, find, unknown))
    }

    fn read_resource(
        self: Arc<Self>,
        call: BackendCall,
    ) -> BackendFuture<Outcome<ReadResourceResult>> {
        let find = |view: &MergedView, uri: &str| {
            view.routes
                .resource(uri)
                .map(|route| (route.server, route.name))
        };
        Box::pin(self.route(call, find, RequestError::not_found))
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
            let Inner {
                views, upstreams, ..
            } = &*self.0;
            let view = views
                .find(upstreams, caller, capabilities, Freshness::ForCalls)
                .await;
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
            let upstream = &upstreams[route.ok_or_else(unknown)?.server];
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
        let troubled: Vec<_> = inner.upstreams.iter().filter_map(troubled).collect();
        let health = match troubled.len() == inner.upstreams.len() {
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
        let Some(before) = now.checked_sub(inner.idle) else {
            continue;
        };
        inner.views.forget_idle(before);
        for upstream in &inner.upstreams {
            upstream.close_idle(Some(before)).await;
            upstream.try_again().await;
        }
    }
}

/// Time between two looks at what is not used any more.
const CLEANING: Duration = Duration::from_secs(5);
