//! A server behind the gateway, and the sessions with it.

mod caller_cache;
mod group;
mod health;
mod lists;
mod outside;
mod session;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use sterna_client::{Builder, Client, Command, Config, Error, ErrorKind, PausedCall, Reply};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::tasks::EXTENSION as TASKS;
use sterna_server::auth::Caller;
use tokio::time::Instant;

pub(crate) use caller_cache::CallerCache;
use group::SessionGroup;
use health::ConnectionHealth;
pub(crate) use lists::ServerLists;
use outside::OutsideQuestions;
pub(crate) use session::{SessionKey, SessionLease, UpstreamSession};

use crate::config::{ConfigError, Connection, GatewayConfig, SessionScope, UpstreamConfig};
use crate::credentials::{GroupCredential, TokenSource};
use crate::failure::{Reason, not_connected};

/// A server behind the gateway.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) config: UpstreamConfig,
    headers: HeaderMap,
    tokens: TokenSource,
    limits: GatewayConfig,
    health: ConnectionHealth,
    groups: Mutex<CallerCache<Arc<SessionGroup>>>,
}

impl Upstream {
    pub(crate) fn new(config: UpstreamConfig, limits: &GatewayConfig) -> Result<Self, ConfigError> {
        let headers = match &config.connection {
            Connection::Command { .. } => HeaderMap::new(),
            Connection::Url { headers, .. } => {
                let read = |(name, value): (&String, &String)| {
                    let field: HeaderName = name.parse().ok()?;
                    let mut value: HeaderValue = value.parse().ok()?;
                    value.set_sensitive(true);
                    Some((field, value))
                };
                let read: Option<_> = headers.iter().map(read).collect();
                let reason = "a name or a value in `headers` is no header field";
                read.ok_or_else(|| ConfigError::server(&config.name, reason))?
            }
        };
        let tokens = TokenSource::of(&config)?;
        Ok(Self {
            config,
            headers,
            tokens,
            limits: GatewayConfig {
                servers: Vec::new(),
                ..limits.clone()
            },
            health: ConnectionHealth::default(),
            groups: Mutex::default(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    /// Reason that the server is not there; `None` if it was when last tried.
    pub(crate) fn trouble(&self) -> Option<Reason> {
        self.health.reason()
    }

    /// Key of the sessions of a caller whose client declares `capabilities`.
    pub(crate) fn key(&self, caller: &Caller, capabilities: &ClientCapabilities) -> SessionKey {
        let principal = match self.config.session {
            SessionScope::Shared => None,
            SessionScope::Call | SessionScope::Principal => Some(caller.principal().clone()),
        };
        let key = SessionKey::new(principal, &forwarded(capabilities));
        match self.tokens.is_of_callers() {
            true => key.with_rights_of(caller),
            false => key,
        }
    }

    /// Lists of the server. A call may go by lists that are a little older.
    pub(crate) async fn lists(
        self: &Arc<Self>,
        key: &SessionKey,
        capabilities: &ClientCapabilities,
        freshness: Freshness,
    ) -> Result<Arc<ServerLists>, Reason> {
        let group = self.group(key, capabilities);
        if let Some(known) = group.known(freshness) {
            return Ok(known);
        }
        let patience = match freshness {
            // Calls of other servers do not wait for one that is not there.
            Freshness::ForCalls if self.trouble().is_some() => TROUBLED,
            _ => self.limits.list_timeout,
        };
        let listing = tokio::time::timeout(patience, group.fetch(self));
        match listing.await {
            Ok(listed) => listed,
            Err(_) => {
                let server = self.name();
                tracing::warn!(target: "sterna::gateway", server, "the server did not list what it offers in time");
                self.health.failed(Reason::Unreachable, Instant::now());
                Err(Reason::Unreachable)
            }
        }
    }

    /// A session for calls that are not asked anything, or of a server that does
    /// not ask while a call runs.
    pub(crate) async fn session(
        &self,
        key: &SessionKey,
        capabilities: &ClientCapabilities,
    ) -> Result<Arc<UpstreamSession>, Reason> {
        self.group(key, capabilities).any(self).await
    }

    /// A session for one call that may be asked, alone.
    pub(crate) async fn lease(
        &self,
        key: &SessionKey,
        capabilities: &ClientCapabilities,
    ) -> Result<SessionLease, Reason> {
        self.group(key, capabilities).lease(self).await
    }

    /// A client for a carried call of this caller, which may have paused at
    /// another gateway.
    pub(crate) async fn carrier<T: Reply>(
        &self,
        key: &SessionKey,
        capabilities: &ClientCapabilities,
        call: &PausedCall<T>,
    ) -> Result<Client, Error> {
        self.group(key, capabilities).carrier(self, call).await
    }

    fn group(&self, key: &SessionKey, capabilities: &ClientCapabilities) -> Arc<SessionGroup> {
        let (mut groups, now) = (self.lock(), Instant::now());
        if let Some(group) = groups.get(key, now) {
            group.credential.note(key.token.as_ref());
            return group;
        }
        let (held, credential) = (self.limits.held_per_caller, self.tokens.for_group());
        credential.note(key.token.as_ref());
        let group = Arc::new(SessionGroup::new(forwarded(capabilities), credential, held));
        groups.insert(key, Arc::clone(&group), now);
        group
    }

    /// Opens a session, unless the server has just failed.
    async fn connect(
        &self,
        capabilities: &ClientCapabilities,
        credential: &GroupCredential,
    ) -> Result<UpstreamSession, Reason> {
        if credential.lacks_token() {
            return Err(Reason::Unauthorized);
        }
        if let Some(reason) = self.health.refusal(Instant::now()) {
            return Err(reason);
        }
        let outside = OutsideQuestions::new(self.name());
        let mut builder = outside.attach(self.builder(), capabilities);
        builder = credential.attach(builder);
        for id in capabilities.extensions.iter().flat_map(|all| all.keys()) {
            if let Ok(id) = id.parse() {
                builder = builder.extension(&id);
            }
        }
        match builder.connect().await {
            Ok(client) => {
                self.health.succeeded();
                let is_pipe = matches!(self.config.connection, Connection::Command { .. });
                Ok(UpstreamSession::new(client, outside, is_pipe))
            }
            Err(error) => {
                let server = self.name();
                tracing::warn!(target: "sterna::gateway", server, %error, "the server cannot be reached");
                let reason = not_connected(&error);
                // One caller whose token is refused keeps no other from the server.
                if reason != Reason::Unauthorized || !self.tokens.is_of_callers() {
                    self.health.failed(reason, Instant::now());
                }
                Err(reason)
            }
        }
    }

    /// Tries a server again that could not be reached when it was last tried.
    pub(crate) async fn try_again(&self) {
        if self.trouble().is_some() {
            // The health of the server says it all.
            let _ = self.reach().await;
        }
    }

    /// Opens a session of no caller and closes it. A server that wants the token of
    /// a caller is there.
    pub(crate) async fn reach(&self) -> Result<(), Reason> {
        let nothing = ClientCapabilities::default();
        let credential = match self.tokens.is_of_callers() {
            true => GroupCredential::default(),
            false => self.tokens.for_group(),
        };
        let connecting = self.connect(&nothing, &credential);
        let tried = tokio::time::timeout(self.limits.list_timeout, connecting).await;
        match tried.unwrap_or(Err(Reason::Unreachable)) {
            Ok(session) => session.client.close().await,
            Err(Reason::Unauthorized) if self.tokens.is_of_callers() => self.health.succeeded(),
            Err(reason) => return Err(reason),
        }
        Ok(())
    }

    /// A client that sends what the configuration says, and nothing of a caller.
    pub(crate) fn builder(&self) -> Builder {
        let builder = match &self.config.connection {
            Connection::Url { url, .. } => Client::builder(url).headers(self.headers.clone()),
            Connection::Command {
                program,
                args,
                env,
                folder,
            } => {
                let server = self.config.name.clone();
                let mut command = Command::new(program).args(args).on_stderr(
                    move |line| tracing::info!(target: "sterna::gateway::stderr", server, "{line}"),
                );
                for (name, value) in env {
                    command = command.env(name, value);
                }
                if let Some(folder) = folder {
                    command = command.current_dir(folder);
                }
                Client::builder(command)
            }
        };
        let mut config = Config::default();
        config.checks_results = false;
        let builder = builder.config(config).era(self.config.era);
        builder.info(Implementation::new(
            "sterna-gateway",
            env!("CARGO_PKG_VERSION"),
        ))
    }

    /// Notes that a call on `session` has failed: a session whose process or
    /// connection is gone is not used again.
    pub(crate) fn note_failure(&self, session: &UpstreamSession, error: &Error) {
        if error.kind() == ErrorKind::Unavailable {
            session.retire();
            self.health.failed(Reason::Unreachable, Instant::now());
        }
    }

    /// Notes that a carried call has failed, which needs no session of this
    /// gateway.
    pub(crate) fn note_failure_of_carried(&self, error: &Error) {
        if error.kind() == ErrorKind::Unavailable {
            self.health.failed(Reason::Unreachable, Instant::now());
        }
    }

    /// Closes sessions that were not used since `before`, and those that are not
    /// to be used.
    pub(crate) async fn close_idle(&self, before: Option<Instant>) {
        let groups = self.lock().entries();
        for (key, group) in groups {
            let is_left = group.close_idle(before).await;
            if !is_left {
                // A request that has just found the group opens its session in it all the same.
                self.lock().remove(&key);
            }
        }
    }

    /// Number of open sessions.
    pub(crate) fn sessions(&self) -> u64 {
        let groups = self.lock().entries();
        groups.iter().map(|(_, group)| group.len()).sum()
    }

    /// Closes sessions that no call has. Returns `true` if one is left.
    pub(crate) async fn close_unused(&self) -> bool {
        let mut is_left = false;
        let groups = self.lock().entries();
        for (_, group) in groups {
            is_left |= group.close_unused().await;
        }
        is_left
    }

    fn lock(&self) -> MutexGuard<'_, CallerCache<Arc<SessionGroup>>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time that a call waits for the lists of a server that was not there.
const TROUBLED: Duration = Duration::from_secs(1);

/// Age that lists may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// As new as the server's caching hints say.
    AsSaid,
    /// Good enough to find the server of a call.
    ForCalls,
}

/// Capabilities that a server is told of: those of the client, but for tasks,
/// which the gateway does not pass on.
pub(crate) fn forwarded(declared: &ClientCapabilities) -> ClientCapabilities {
    let mut forwarded = declared.clone();
    if let Some(extensions) = &mut forwarded.extensions {
        extensions.remove(TASKS);
        if extensions.is_empty() {
            forwarded.extensions = None;
        }
    }
    forwarded
}
