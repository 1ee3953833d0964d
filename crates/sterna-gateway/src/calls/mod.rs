//! Calls on their way to a server and back.

mod fence;
mod fleet;
mod forward;
mod held;
mod older;
mod options;
mod state;
mod target;

use std::sync::Arc;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::result::Outcome;
use sterna_server::{BackendCall, RequestError};

pub(crate) use fleet::Fleet;
pub(crate) use held::HeldCalls;
use state::{Position, RouteState};
pub(crate) use target::UpstreamCall;

use crate::config::SessionScope;
use crate::failure::{Reason, of_call};
use crate::upstream::{SessionKey, Upstream};

/// A call, and the server that it goes to.
#[derive(Clone)]
pub(crate) struct RoutedCall {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) key: SessionKey,
    /// The server's own name for what is called.
    pub(crate) name: String,
    pub(crate) call: BackendCall,
}

impl RoutedCall {
    fn capabilities(&self) -> &ClientCapabilities {
        self.call.capabilities()
    }

    fn failed(&self, reason: Reason) -> RequestError {
        reason.of(self.upstream.name())
    }

    /// Serves one round of the call.
    pub(crate) async fn serve<T: UpstreamCall>(
        self,
        held: &HeldCalls,
    ) -> Result<Outcome<T>, RequestError> {
        let Some(text) = self.call.state() else {
            return self.begin(held, None).await;
        };
        match RouteState::read(text, self.upstream.name()) {
            Some(Position::Begin) => self.begin(held, None).await,
            Some(Position::Carried(call)) => older::go_on_carried(self, held, &call).await,
            Some(Position::Held(id)) => held.go_on(self, &id).await,
            Some(Position::Upstream(state)) => self.begin(held, Some(state)).await,
            // The name belongs to another server since the configuration was changed.
            None => Err(self.failed(Reason::HeldCallGone)),
        }
    }

    /// Sends the request: as it is to a server of 2026-07-28, as a call of a
    /// session to one of before. `state` is that of a retry, which may have none.
    async fn begin<T: UpstreamCall>(
        self,
        held: &HeldCalls,
        state: Option<Option<String>>,
    ) -> Result<Outcome<T>, RequestError> {
        let found = self.upstream.session(&self.key, self.capabilities());
        let session = found.await.map_err(|reason| self.failed(reason))?;
        let may_share = self.upstream.config.session != SessionScope::Call;
        if may_share && !session.is_legacy() {
            return forward::forward(self, &session, state).await;
        }
        if may_share && !may_be_asked(self.capabilities()) {
            let call = T::build(&session.client, &self.name, &self.call)?;
            let result = call.options(self.options()).await;
            return result.map(Outcome::Complete).map_err(|error| {
                self.upstream.note_failure(&session, &error);
                of_call(self.upstream.name(), &error)
            });
        }
        drop(session);
        let leasing = self.upstream.lease(&self.key, self.capabilities());
        let lease = leasing.await.map_err(|reason| self.failed(reason))?;
        if lease.session.is_legacy() {
            return older::begin(self, held, lease).await;
        }
        // It is this call's alone, and ends with it.
        lease.session.retire();
        let session = Arc::clone(&lease.session);
        forward::forward(self, &session, state).await
    }
}

/// Returns `true` if a client that declares this can be asked anything.
fn may_be_asked(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.is_some()
        || capabilities.sampling.is_some()
        || capabilities.roots.is_some()
}
