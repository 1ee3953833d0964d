//! Calls on their way to a server and back.

mod fence;
mod fleet;
mod forward;
mod held;
mod older;
mod record;
mod state;
mod target;

use std::sync::Arc;

use sterna_client::CallOptions;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::InputResponses;
use sterna_protocol::result::Outcome;
use sterna_protocol::version::ProtocolVersion;
use sterna_server::{BackendCall, Progress, RequestError};

pub(crate) use fleet::Fleet;
pub(crate) use held::HeldCalls;
use record::AnswerRecord;
use state::{Position, RouteState};
pub(crate) use target::UpstreamCall;

use crate::config::SessionScope;
use crate::failure::{Reason, of_call};
use crate::upstream::{SessionKey, Upstream};
use crate::view::Route;

/// A call, and the server that it goes to.
#[derive(Clone)]
pub(crate) struct RoutedCall {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) key: SessionKey,
    /// The server's own name for what is called.
    pub(crate) name: String,
    pub(crate) call: BackendCall,
    /// Answers so far; `None` if a call that is lost may not be sent anew.
    record: Option<AnswerRecord>,
}

impl RoutedCall {
    /// Creates a call on its way to `upstream`, by the key of its session and the
    /// server's own name for what is called.
    pub(crate) fn new(
        upstream: Arc<Upstream>,
        key: SessionKey,
        route: Route,
        call: BackendCall,
    ) -> Self {
        Self {
            upstream,
            key,
            name: route.name,
            call,
            record: route.may_reissue.then(AnswerRecord::default),
        }
    }

    /// Returns `true` if the state of this round begins the call.
    pub(crate) fn is_before_begin(&self) -> bool {
        let state = self.call.state();
        let state = state.and_then(|text| RouteState::read(text, self.upstream.name()));
        state.is_some_and(|state| state.position == Position::Begin)
    }

    fn capabilities(&self) -> &ClientCapabilities {
        self.call.capabilities()
    }

    /// Options of one round at the server, which tells as much as the client wants
    /// to hear.
    fn options(&self) -> CallOptions {
        let mut options = CallOptions::new();
        if self.call.wants_progress() {
            let call = self.call.clone();
            options = options.on_progress(move |told| {
                let mut progress = Progress::new(told.progress.as_f64());
                progress.total = told.total.as_ref().map(|total| total.as_f64());
                progress.message.clone_from(&told.message);
                call.progress(progress);
            });
        }
        if let Some(level) = self.call.log_level() {
            let call = self.call.clone();
            options = options.on_log(level.clone(), move |message| call.pass_on_log(message));
        }
        // The request of a client of before 2026-07-28 stays open at this gateway, and
        // ends the call at the server when it is dropped.
        if self.has_waiting_client() || !self.upstream.config.resume {
            options = options.hold();
        }
        options
    }

    /// Returns `true` if the client waits on its open request while it is asked, and
    /// cannot be sent back to call again.
    fn has_waiting_client(&self) -> bool {
        *self.call.protocol_version() != ProtocolVersion::V2026_07_28
    }

    fn failed(&self, reason: Reason) -> RequestError {
        reason.of(self.upstream.name())
    }

    /// Serves one round of the call.
    pub(crate) async fn serve<T: UpstreamCall>(
        mut self,
        held: &HeldCalls,
    ) -> Result<Outcome<T>, RequestError> {
        let Some(text) = self.call.state() else {
            return self.begin(held, None).await;
        };
        let Some(state) = RouteState::read(text, self.upstream.name()) else {
            // The name belongs to another server since the configuration was changed.
            return Err(self.failed(Reason::HeldCallGone));
        };
        if let (Some(record), Some(sealed)) = (&mut self.record, state.record) {
            *record = sealed;
            record.note(&InputResponses::from(self.call.answers().clone()));
        }
        match state.position {
            Position::Begin => self.begin(held, None).await,
            Position::Carried(call) => older::go_on_carried(self, held, &call).await,
            Position::Held(id) => held.go_on(self, &id).await,
            Position::Upstream(state) => self.begin(held, Some(state)).await,
        }
    }

    /// Sends a lost call anew, if that is allowed. `None` if it is not.
    async fn reissue<T: UpstreamCall>(
        &self,
        held: &HeldCalls,
    ) -> Option<Result<Outcome<T>, RequestError>> {
        self.record.as_ref()?;
        let server = self.upstream.name();
        tracing::info!(target: "sterna::gateway", server, "a lost call is sent anew");
        // Boxed: it is the function that led here.
        Some(Box::pin(self.clone().begin(held, None)).await)
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
