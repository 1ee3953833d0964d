//! Every number of the server that is not about HTTP.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sterna_flow::Settings;
use sterna_protocol::caching::{CacheScope, Caching};
use sterna_seal::{Budget, Lifetimes};

use crate::tasks::TaskConfig;

/// The settings of a server.
#[derive(Clone)]
#[non_exhaustive]
pub struct ServerConfig {
    /// For whom states are sealed, usually the public URL of the server. `None`
    /// takes its name: two servers that share keys but no name do not open each
    /// other's states.
    pub audience: Option<String>,
    /// A part of the audience of its own, for a server that serves several.
    pub tenant: Option<String>,
    /// Time for which clients may cache lists. A minute: a list changes with a
    /// deployment. Private: only the author knows that all callers see the same.
    pub caching: Caching,
    /// Entries on a page of a list. A hundred fit into a few dozen kilobytes.
    pub page: usize,
    /// Time that a client may take for one round and for all of them.
    pub lifetimes: Lifetimes,
    /// Lifetime of a session of the older revisions; a client that comes
    /// back later is told 404 and opens another. `None`: a day with a store,
    /// where every instance learns of a session's end, and eight hours without
    /// one, where an ended session lives on at other instances and after a
    /// restart.
    pub session_lifetime: Option<Duration>,
    /// Age at which keys are read again from their file or source. Ten seconds:
    /// a rollout waits for it, and a small file costs nothing. A secret store
    /// that charges for reads is better asked every few minutes. Zero never
    /// reads them again.
    pub reload_keys: Duration,
    /// Size of the state that a client may be asked to carry.
    pub budget: Budget,
    /// Settings of flows; `max_rounds` holds for low-level handlers too.
    pub flow: Settings,
    /// Settings of the task workers, in a server that has a store.
    pub tasks: TaskConfig,
    /// Says whether this instance has too much to do: flows that have got
    /// somewhere are then sent to another one, at most twice in a row. None: an
    /// instance that is alone has nowhere to send them.
    pub overloaded: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// Writes one line to standard error when the server listens, with its
    /// address. On: a server that says nothing looks like one that hangs.
    pub announce: bool,
    /// Clients that see the mistakes of the author, such as the text of a panic,
    /// in place of "Internal error".
    pub show_mistakes: ShowMistakes,
}

/// Clients that see the mistakes of a server's author: a form that cannot be
/// shown, the text of a panic, state that is missing, an effect without a
/// ledger. The log has them in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShowMistakes {
    /// Clients of a debug build that serves on loopback or on stdio, and not
    /// elsewhere too.
    #[default]
    InDevelopment,
    /// No client.
    Never,
    /// All clients, also of a release build and off loopback. The texts may
    /// hold the text of a panic.
    ToEveryClient,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            audience: None,
            tenant: None,
            caching: Caching::new(60_000, CacheScope::Private),
            page: 100,
            lifetimes: Lifetimes::default(),
            session_lifetime: None,
            reload_keys: Duration::from_secs(10),
            budget: Budget::default(),
            flow: Settings::default(),
            tasks: TaskConfig::default(),
            overloaded: None,
            announce: true,
            show_mistakes: ShowMistakes::default(),
        }
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("audience", &self.audience)
            .field("tenant", &self.tenant)
            .field("caching", &self.caching)
            .field("page", &self.page)
            .field("lifetimes", &self.lifetimes)
            .field("session_lifetime", &self.session_lifetime)
            .field("reload_keys", &self.reload_keys)
            .field("budget", &self.budget)
            .field("flow", &self.flow)
            .field("tasks", &self.tasks)
            .field("overloaded", &self.overloaded.is_some())
            .field("announce", &self.announce)
            .field("show_mistakes", &self.show_mistakes)
            .finish()
    }
}
