//! Lists of all servers as one.

mod merge;
mod routes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::join_all;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_server::auth::Caller;
use tokio::time::Instant;

pub(crate) use merge::MergedView;
pub(crate) use routes::Route;

use crate::upstream::{CallerCache, Freshness, SessionKey, Upstream};

/// Views of all callers.
#[derive(Debug, Default)]
pub(crate) struct Views(Mutex<CallerCache<Arc<MergedView>>>);

impl Views {
    /// The view of `caller` through a client that declares `capabilities`. It
    /// is the same value as before if no server offers anything else.
    pub(crate) async fn find(
        &self,
        upstreams: &[Arc<Upstream>],
        caller: &Caller,
        capabilities: &ClientCapabilities,
        freshness: Freshness,
    ) -> Arc<MergedView> {
        let listing = upstreams.iter().map(|upstream| async move {
            let key = upstream.key(caller, capabilities);
            upstream.lists(&key, capabilities, freshness).await
        });
        let lists = join_all(listing).await;
        let key = SessionKey::new(Some(caller.principal().clone()), capabilities);
        let now = Instant::now();
        let known = self.lock().get(&key, now);
        if let Some(known) = known.filter(|known| known.is_of(&lists)) {
            return known;
        }
        let view = Arc::new(MergedView::of(upstreams, lists));
        for collision in &view.collisions {
            tracing::warn!(target: "sterna::gateway", "MR0904: {collision}; the first one is offered");
        }
        self.lock().insert(&key, Arc::clone(&view), now);
        view
    }

    /// Forgets views that were not used since `before`.
    pub(crate) fn forget_idle(&self, before: Instant) {
        self.lock().remove_idle(before);
    }

    fn lock(&self) -> MutexGuard<'_, CallerCache<Arc<MergedView>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
