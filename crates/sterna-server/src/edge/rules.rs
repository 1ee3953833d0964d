//! Letting a caller in, and what every caller is held to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::request::Parts;
use sterna_protocol::http::decode_value;

use super::before::before;
use super::clock;
use super::config::Rates;
use super::pass::Pass;
use super::rate::RateLimits;
use super::refusal::Refusal;
use crate::auth::{Caller, Denied, Gate, Scopes, Verdict, challenge};

#[derive(Debug)]
pub(super) struct Rules {
    gate: Gate,
    rates: RateLimits,
}

impl Rules {
    pub(super) fn new(gate: Gate, rates: &Rates) -> Self {
        Self {
            gate,
            rates: RateLimits::new(rates, clock::now()),
        }
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(super) fn rates(&self) -> &RateLimits {
        &self.rates
    }

    /// Says who is calling, and gives them a pass.
    pub(super) async fn let_in(
        self: &Arc<Self>,
        head: &Parts,
        peer: Option<SocketAddr>,
        start: Instant,
    ) -> Result<Pass, Refusal> {
        let address = peer.map(|peer| peer.ip());
        let Some(authenticator) = self.gate.authenticator() else {
            return Ok(Pass::new(Caller::anonymous(), address, self));
        };
        let verdict = match authenticator.authenticate(head, clock::wall()) {
            Verdict::Known(caller) => Ok(caller),
            Verdict::Denied(denied) => Err(denied),
            Verdict::Later(judgement) => before(start + PATIENCE, judgement)
                .await
                .unwrap_or(Err(Denied::Unavailable)),
        };
        let caller = verdict.map_err(|denied| self.deny(denied, &self.advised(&head.headers)))?;
        let policy = self.gate.scopes();
        if !policy.satisfied(caller.scopes(), policy.needed_everywhere()) {
            let needed = self.advised(&head.headers);
            return Err(self.deny(Denied::InsufficientScope(needed.clone()), &needed));
        }
        Ok(Pass::new(caller, address, self))
    }

    /// Whether `caller` may ask for `method` on `name`.
    pub(super) fn check(
        &self,
        caller: &Caller,
        method: &str,
        name: Option<&str>,
    ) -> Result<(), Refusal> {
        if self.gate.authenticator().is_none() {
            return Ok(());
        }
        let policy = self.gate.scopes();
        let needed = policy.needed(method, name);
        if policy.satisfied(caller.scopes(), &needed) {
            return Ok(());
        }
        Err(self.deny(Denied::InsufficientScope(needed.clone()), &needed))
    }

    /// The scopes to tell a caller to get, judging by what the headers say it
    /// asks for. Advice only: what is granted is judged by the body.
    fn advised(&self, headers: &HeaderMap) -> Scopes {
        let text = |name| headers.get(name).and_then(|value| decode_value(value).ok());
        let method = text("mcp-method").unwrap_or_default();
        // AUTH-S2: the same scopes as the body would lead to, however it is spelled here.
        let name = text("mcp-name");
        self.gate.scopes().needed(&method, name.as_deref())
    }

    fn deny(&self, denied: Denied, needed: &Scopes) -> Refusal {
        tracing::debug!(target: "sterna::auth", ?denied, "caller not let in");
        let metadata = self.gate.authenticator().and_then(|one| one.metadata());
        let challenge = challenge(&denied, needed, metadata.map(|one| one.url()));
        Refusal::Denied { denied, challenge }
    }
}

/// How long a judgement may take that has to wait for something.
const PATIENCE: Duration = Duration::from_secs(10);
