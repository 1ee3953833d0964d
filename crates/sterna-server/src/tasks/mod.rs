//! Work that outlives its request: flows whose journal is in a store.
//!
//! A call becomes a row before it is answered (TASK-S5). Workers of any
//! instance claim it, run its handler and commit every step before the handler
//! sees it. A task that waits is put away whole, so that it costs nothing.

mod access;
mod config;
mod create;
mod delivery;
mod desk;
mod failing;
mod job;
mod keeper;
mod mode;
mod plugs;
mod pool;
mod ready;
mod run;
mod show;
mod spill;
mod task_request;
pub(crate) mod tasks_2025_11_25;
mod trouble;
mod v1;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use ring::digest::{Context, SHA256};
use sterna_flow::Engine;
use sterna_seal::{Entropy, EntropyError, OsEntropy};
use sterna_store::{Claimant, Owner, Store};
use tokio::sync::{Notify, watch as channel};

pub use config::TaskConfig;
pub use mode::TaskMode;

pub(crate) use access::unknown;
pub(crate) use create::Opening;
pub(crate) use failing::store_failed;
pub(crate) use pool::work;
pub(crate) use ready::StoreReady;
pub(crate) use show::questions;
use sterna_http::auth::Caller;
pub(crate) use task_request::{CreatedTask, TaskDialect, TaskOptions, requested_task};
pub(crate) use watch::Watch;

use crate::offer::Tasking;
use plugs::{FlowBlobs, FlowLedger};
use trouble::Trouble;

/// The store of a server, and everything that is kept beside it.
pub(crate) struct Tasks {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) config: TaskConfig,
    /// Whose tasks these are: servers that share a store keep apart.
    realm: Vec<u8>,
    /// Rings when there is a new task for a worker of this instance.
    fresh: Notify,
    /// Counts changes that this instance has made to any task.
    changed: channel::Sender<u64>,
    /// What keeps this instance from its work.
    trouble: Trouble,
}

impl Tasks {
    pub(crate) fn new(store: Arc<dyn Store>, config: TaskConfig, realm: Vec<u8>) -> Self {
        Self {
            store,
            config,
            realm,
            fresh: Notify::new(),
            changed: channel::Sender::new(0),
            trouble: Trouble::default(),
        }
    }

    /// The engine for one run of a flow that may live for `lifetime`, or for
    /// ever: as the server's, with a ledger and blobs.
    ///
    /// # Errors
    ///
    /// The operating system has no random bytes.
    pub(crate) fn engine(
        &self,
        engine: &Engine,
        lifetime: Option<Duration>,
    ) -> Result<Arc<Engine>, EntropyError> {
        let claimant = Claimant::from_bytes(random()?);
        let keep = plugs::keep(lifetime);
        let ledger = FlowLedger::new(Arc::clone(&self.store), claimant, keep);
        let blobs = FlowBlobs::new(Arc::clone(&self.store), keep);
        let engine = engine.clone();
        Ok(Arc::new(
            engine.ledger(Arc::new(ledger)).blobs(Arc::new(blobs)),
        ))
    }

    /// How long a task of a tool lives that says `own` about it, after its
    /// creation; `None` is for ever.
    pub(crate) fn longest(&self, own: Option<Duration>) -> Option<Duration> {
        own.or(self.config.ttl)
    }

    /// How long a flow lives that begins in round trips and may take `flow`
    /// there; `None` is for ever.
    ///
    /// One that becomes a task takes its effects and blobs with it.
    pub(crate) fn lifetime(&self, flow: Duration, tool: Option<&Tasking>) -> Option<Duration> {
        match tool {
            Some(tool) if tool.mode != TaskMode::Never => {
                Some(flow.saturating_add(self.longest(tool.ttl)?))
            }
            _ => Some(flow),
        }
    }

    /// Who a task belongs to (TASK-S26).
    pub(crate) fn owner(&self, caller: &Caller) -> Owner {
        let mut context = Context::new(&SHA256);
        context.update(&(self.realm.len() as u64).to_be_bytes());
        context.update(&self.realm);
        context.update(&caller.principal().to_bytes());
        let mut digest = [0; 32];
        digest.copy_from_slice(context.finish().as_ref());
        Owner::from_digest(digest)
    }

    /// Notes that a task has changed, for those who watch.
    fn touched(&self) {
        self.changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// Sixteen bytes that nobody can predict.
fn random() -> Result<[u8; 16], EntropyError> {
    let mut bytes = [0; 16];
    OsEntropy.fill(&mut bytes)?;
    Ok(bytes)
}

/// Anything that differs from one instance to the next.
pub(crate) fn jitter() -> u64 {
    let bytes = random().unwrap_or_default();
    bytes.first_chunk().copied().map_or(0, u64::from_be_bytes)
}
