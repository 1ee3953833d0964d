//! Calls that outlive their request: flows whose journal is in a store.
//!
//! A call becomes a row before it is answered (TASK-S5). `sterna-runner` has the
//! workers, and [`workers`](crate::workers) tells them the tools of the server.

mod access;
mod create;
mod show;
mod store;
pub(crate) mod tasks_2025_11_25;
mod v1;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use ring::digest::{Context, SHA256};
use sterna_flow::Engine;
use sterna_runner::effects::with_store;
use sterna_runner::tasks::TaskQueue;
use sterna_seal::{EntropyError, UnixMillis};
use sterna_store::{Owner, Store};

pub use sterna_runner::tasks::{TaskConfig, WorkDone};

pub(crate) use access::unknown;
pub(crate) use create::{CreatedTask, NewTaskRequest};
pub(crate) use show::questions;
use sterna_http::auth::Caller;
use sterna_http::clock::Clock;
pub(crate) use store::{StoreReady, store_failed};
pub(crate) use v1::Stored;
pub(crate) use watch::TaskSubscription;

use crate::catalog::Tasking;
use crate::flow_ids::FlowIds;
use crate::task_mode::TaskMode;

/// Tasks of a server, and the store that they are in.
pub(crate) struct Tasks {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) config: TaskConfig,
    pub(crate) queue: Arc<TaskQueue>,
    /// Realm of the server: servers that share a store do not see each other's
    /// tasks.
    realm: Vec<u8>,
    /// Build that new tasks are created by.
    build: Build,
    clock: Clock,
    flow_ids: FlowIds,
}

/// Build of a server, and the version of its handlers' state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    pub(crate) id: [u8; 8],
    pub(crate) version: u32,
}

impl Tasks {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        config: TaskConfig,
        realm: Vec<u8>,
        build: Build,
        clock: Clock,
        flow_ids: FlowIds,
    ) -> Self {
        let queue = TaskQueue::new(Arc::clone(&store), config.clone());
        Self {
            store,
            config,
            queue: Arc::new(queue),
            realm,
            build,
            clock,
            flow_ids,
        }
    }

    /// Returns the time, for flows.
    pub(crate) fn now(&self) -> UnixMillis {
        self.clock.now().into()
    }

    /// Returns the engine for one run of a flow that may live for `lifetime`, or
    /// without an end: as the server's, with a ledger and blobs.
    ///
    /// # Errors
    ///
    /// The operating system has no random bytes.
    pub(crate) fn engine(
        &self,
        engine: &Engine,
        lifetime: Option<Duration>,
    ) -> Result<Arc<Engine>, EntropyError> {
        with_store(engine, &self.store, lifetime)
    }

    /// Returns the lifetime of a task after its creation, of a tool whose own
    /// setting is `own`; `None` is without an end.
    pub(crate) fn longest(&self, own: Option<Duration>) -> Option<Duration> {
        own.or(self.config.ttl)
    }

    /// Returns the lifetime of a flow that begins in round trips and may take
    /// `flow` there; `None` is without an end.
    ///
    /// A flow that becomes a task takes its effects and blobs with it.
    pub(crate) fn lifetime(&self, flow: Duration, tool: Option<&Tasking>) -> Option<Duration> {
        match tool {
            Some(tool) if tool.mode != TaskMode::Never => {
                Some(flow.saturating_add(self.longest(tool.ttl)?))
            }
            _ => Some(flow),
        }
    }

    /// Returns the owner of tasks that `caller` creates (TASK-S26).
    pub(crate) fn owner(&self, caller: &Caller) -> Owner {
        let mut context = Context::new(&SHA256);
        context.update(&(self.realm.len() as u64).to_be_bytes());
        context.update(&self.realm);
        context.update(&caller.principal().to_bytes());
        let mut digest = [0; 32];
        digest.copy_from_slice(context.finish().as_ref());
        Owner::from_digest(digest)
    }
}
