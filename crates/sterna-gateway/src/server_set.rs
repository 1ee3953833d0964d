//! The servers that a gateway has at one time, and how each caller sees them.

use std::sync::Arc;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_server::auth::Caller;
use thiserror::Error;
use tokio::time::Instant;

use crate::config::{ConfigError, GatewayConfig, UpstreamConfig};
use crate::metrics::GatewayMetrics;
use crate::upstream::{Freshness, Upstream};
use crate::view::{MergedView, Views};

/// Servers in the order of the configuration.
#[derive(Debug)]
pub(crate) struct ServerSet {
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    views: Views,
}

/// The gateway cannot start, or cannot take over a configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The audit log cannot be written.
    #[error("the audit log cannot be written")]
    Audit(#[source] std::io::Error),
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

impl ServerSet {
    /// Connects to `servers` and looks at what they offer. Those of `known` that
    /// are configured as before go on with their sessions.
    pub(crate) async fn open(
        servers: &[UpstreamConfig],
        limits: &GatewayConfig,
        known: &[Arc<Upstream>],
    ) -> Result<Self, StartError> {
        if servers.is_empty() {
            return Err(StartError::NoServer);
        }
        let same = |server: &UpstreamConfig| {
            let mut known = known.iter();
            known.find(|upstream| upstream.config == *server).cloned()
        };
        let upstream = |server: &UpstreamConfig| match same(server) {
            Some(upstream) => Ok(upstream),
            None => Upstream::new(server.clone(), limits).map(Arc::new),
        };
        let upstreams: Result<Vec<_>, _> = servers.iter().map(upstream).collect();
        let opened = Self {
            upstreams: upstreams?,
            views: Views::default(),
        };
        let (anonymous, nothing) = (Caller::anonymous(), ClientCapabilities::default());
        let seen = opened.view(&anonymous, &nothing, Freshness::AsSaid).await;
        if seen.collisions.is_empty() {
            return Ok(opened);
        }
        for upstream in opened.without(known) {
            upstream.close_idle(None).await;
        }
        let shown: Vec<_> = seen.collisions.iter().map(ToString::to_string).collect();
        let collisions = shown.join("; ");
        Err(StartError::Collision { collisions })
    }

    /// Servers that are not among `others`.
    pub(crate) fn without(&self, others: &[Arc<Upstream>]) -> Vec<Arc<Upstream>> {
        let is_other = |one: &&Arc<Upstream>| others.iter().any(|other| Arc::ptr_eq(one, other));
        let own = self.upstreams.iter();
        own.filter(|one| !is_other(one)).cloned().collect()
    }

    /// Everything that `caller` sees through a client that declares `capabilities`.
    pub(crate) async fn view(
        &self,
        caller: &Caller,
        capabilities: &ClientCapabilities,
        freshness: Freshness,
    ) -> Arc<MergedView> {
        let Self { upstreams, views } = self;
        views.find(upstreams, caller, capabilities, freshness).await
    }

    /// Counts sessions, and the servers that can be reached.
    pub(crate) fn count(&self, metrics: &GatewayMetrics) {
        for upstream in &self.upstreams {
            let up = u64::from(upstream.trouble().is_none());
            metrics.up(upstream.name()).set(up);
            metrics.sessions(upstream.name()).set(upstream.sessions());
        }
    }

    /// Closes what was not used since `before`, and tries servers again that could
    /// not be reached.
    pub(crate) async fn clean_up(&self, before: Instant) {
        self.views.forget_idle(before);
        for upstream in &self.upstreams {
            upstream.close_idle(Some(before)).await;
            upstream.try_again().await;
        }
    }
}
