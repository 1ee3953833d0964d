//! The workers of an instance, and the application as they see it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_flow::UnixMillis;
use sterna_runner::effects::random_bytes;
use sterna_runner::tasks::{
    self, StartedTask, TaskCatalog, TaskHost, TaskShared, WorkDone, WorkerExit,
};
use sterna_store::{BoxFuture, Claimed, Name, TaskId};
use tokio::sync::watch;
use tracing::{Instrument, Span, field};

use super::task::OperationTask;
use super::{OperationRoute, OperationStore, Operations};
use crate::fault::Fault;

impl Operations {
    /// Works on operations until `shutdown` resolves, then lets go of them: each is
    /// handed over to another instance at its next
    /// [checkpoint](crate::Cx::checkpoint), at the latest after
    /// [`TaskConfig::drain`](crate::TaskConfig::drain). A step that runs then is
    /// interrupted.
    ///
    /// An instance that does no work itself still begins operations and shows
    /// them.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the workers. Their operations are taken over when
    /// their leases end.
    pub async fn work(&self, shutdown: impl Future<Output = ()>) {
        let (stop, stopping) = watch::channel(false);
        let shutdown = pin!(shutdown);
        let Some((host, worker)) = self.host(stopping) else {
            return shutdown.await;
        };
        let queue = Arc::clone(&host.place.queue);
        let mut working = pin!(tasks::work(host, queue, worker));
        tokio::select! {
            () = &mut working => {}
            () = shutdown => {
                stop.send_replace(true);
                working.await;
            }
        }
    }

    /// Works on operations for `slice`, or until there is nothing to do, then lets
    /// go of them: for a function that is called by a schedule.
    ///
    /// # Cancel safety
    ///
    /// As [`work`](Self::work).
    pub async fn work_for(&self, slice: Duration) -> WorkDone {
        let slice = slice.min(LONGEST_SLICE);
        let (stop, stopping) = watch::channel(false);
        let Some((host, worker)) = self.host(stopping) else {
            return WorkDone::default();
        };
        let queue = Arc::clone(&host.place.queue);
        let drain = self.settings.tasks.drain.min(slice / 5);
        let ending = async {
            tokio::time::sleep(slice - drain).await;
            stop.send_replace(true);
            // The work ends by itself.
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            done = tasks::work_for(host, queue, worker, slice, drain) => done,
            never = ending => match never {},
        }
    }

    fn host(&self, stopping: watch::Receiver<bool>) -> Option<(Host, Name)> {
        let Some(registered) = self.registered() else {
            tracing::warn!(target: "sterna::axum", "no route has operations, so there is no work");
            return None;
        };
        let number = random_bytes().ok()?.first_chunk().copied()?;
        let worker = Name::new(format!("http-{:08x}", u32::from_be_bytes(number))).ok()?;
        let host = Host {
            operations: self.clone(),
            place: registered.place,
            stopping,
        };
        Some((host, worker))
    }
}

/// A day: a clock has no room for the longest durations.
const LONGEST_SLICE: Duration = Duration::from_secs(24 * 60 * 60);

struct Host {
    operations: Operations,
    place: OperationStore,
    stopping: watch::Receiver<bool>,
}

impl TaskHost for Host {
    type Catalog = RouteCatalog;

    fn now(&self) -> UnixMillis {
        self.place.clock.now()
    }

    fn catalog(&self) -> Arc<RouteCatalog> {
        let registered = self.operations.registered();
        let routes = registered.map(|registered| registered.by_target);
        let routes = routes.unwrap_or_default();
        Arc::new(RouteCatalog { routes })
    }

    fn is_shutting_down(&self) -> bool {
        *self.stopping.borrow()
    }

    fn shutdown(&self) -> BoxFuture<'static, ()> {
        let mut stopping = self.stopping.clone();
        Box::pin(async move {
            // A sender that is gone has dropped the workers with it.
            let _ = stopping.wait_for(|stopping| *stopping).await;
        })
    }

    fn expired(&self) -> Bytes {
        Fault::Expired.to_stored()
    }
}

/// Routes of an application whose requests become operations.
struct RouteCatalog {
    routes: BTreeMap<Name, Arc<dyn OperationRoute>>,
}

impl TaskCatalog for RouteCatalog {
    type Protocol = OperationTask;

    fn targets(&self) -> Vec<Name> {
        self.routes.keys().cloned().collect()
    }

    fn enclose(
        &self,
        task: TaskId,
        attempt: u32,
        work: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()> {
        let span = tracing::info_span!(
            target: "sterna::axum",
            "http.operation",
            otel.kind = "consumer",
            sterna.operation = field::Empty,
            sterna.task = ?task,
            sterna.attempt = attempt,
            sterna.outcome = field::Empty,
        );
        Box::pin(work.instrument(span))
    }

    fn start(
        &self,
        claimed: &Claimed,
        shared: &Arc<TaskShared>,
    ) -> Result<StartedTask<OperationTask>, WorkerExit> {
        let target = &claimed.summary.target;
        Span::current().record("sterna.operation", target.as_str());
        let route = self.routes.get(target).ok_or(WorkerExit::Left)?;
        route.start(claimed, shared)
    }
}
