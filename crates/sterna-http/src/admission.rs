//! Authenticates callers and holds them to their limits.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::request::Parts;

use super::clock::{self, Clock};
use super::config::HttpConfig;
use super::rate::{RateKey, RateLimits};
use super::refusal::Refusal;
use super::shares::{ShareTaken, Shares};
use super::slots::{Slot, Slots};
use crate::auth::{AuthOutcome, Caller, Denied, Gate, Scopes, challenge};
use crate::guard::with_deadline;

#[derive(Debug)]
pub(super) struct AdmissionPolicy {
    gate: Gate,
    clock: Clock,
    rates: RateLimits,
    pub(super) calls: Places,
    pub(super) listeners: Places,
}

/// So many places for all callers, and so many of them for each.
#[derive(Debug)]
pub(super) struct Places {
    what: &'static str,
    slots: Arc<Slots>,
    shares: Arc<Shares>,
}

impl AdmissionPolicy {
    pub(super) fn new(gate: Gate, config: &HttpConfig) -> Self {
        let limits = &config.limits;
        let places = |what, limit| Places {
            what,
            slots: Slots::new(limit),
            shares: Shares::new(limit, limits.caller_percent, limits.address_percent),
        };
        Self {
            gate,
            clock: config.clock.clone(),
            rates: RateLimits::new(&config.rates, clock::now()),
            calls: places("calls", limits.calls),
            listeners: places("listeners", limits.listeners),
        }
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(super) fn rates(&self) -> &RateLimits {
        &self.rates
    }

    /// Says who is calling, and gives them a pass.
    pub(super) async fn authenticate(
        self: &Arc<Self>,
        operation: impl Fn(&HeaderMap) -> Option<Operation<'_>>,
        head: &Parts,
        peer: Option<SocketAddr>,
        start: Instant,
    ) -> Result<Admission, Refusal> {
        let address = peer.map(|peer| peer.ip());
        let Some(authenticator) = self.gate.authenticator() else {
            return Ok(Admission::new(Caller::anonymous(), address, self));
        };
        let verdict = match authenticator.authenticate(head, self.clock.now()) {
            AuthOutcome::Known(caller) => Ok(caller),
            AuthOutcome::Denied(denied) => Err(denied),
            AuthOutcome::Later(judgement) => with_deadline(start + PATIENCE, judgement)
                .await
                .unwrap_or(Err(Denied::Unavailable)),
        };
        let caller =
            verdict.map_err(|denied| self.deny(denied, &self.advised(operation(&head.headers))))?;
        let policy = self.gate.scopes();
        if !policy.satisfied(caller.scopes(), policy.needed_everywhere()) {
            let needed = self.advised(operation(&head.headers));
            return Err(self.deny(Denied::InsufficientScope(needed.clone()), &needed));
        }
        let caller = self.gate.keep_token(caller, &head.headers);
        Ok(Admission::new(caller, address, self))
    }

    /// Checks that `caller` may ask for `method` on `name`.
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

    /// The scopes that a challenge advises, from the operation in the headers.
    /// Advice only: access is decided by the body.
    fn advised(&self, operation: Option<Operation<'_>>) -> Scopes {
        let method = operation.as_ref().map_or("", |called| &*called.method);
        let name = operation.as_ref().and_then(|called| called.name.as_deref());
        self.gate.scopes().needed(method, name)
    }

    fn deny(&self, denied: Denied, needed: &Scopes) -> Refusal {
        tracing::debug!(target: "sterna::auth", ?denied, "caller not let in");
        let metadata = self.gate.authenticator().and_then(|one| one.metadata());
        let challenge = challenge(&denied, needed, metadata.map(|one| one.url()));
        Refusal::Denied { denied, challenge }
    }
}

impl Places {
    pub(super) fn taken(&self) -> usize {
        self.slots.taken()
    }

    pub(super) fn is_full(&self) -> bool {
        self.slots.is_full()
    }

    /// Checks that the caller's share has room for one more.
    pub(super) fn check(&self, rate_key: RateKey<'_>) -> Result<(), Refusal> {
        self.shares
            .check(rate_key)
            .map_err(|taken| self.refuse(taken))
    }

    /// Takes a place for a caller.
    pub(super) fn take(&self, rate_key: RateKey<'_>) -> Result<Slot, Refusal> {
        let share = self.shares.take(rate_key);
        let share = share.map_err(|taken| self.refuse(taken))?;
        let slot = self.slots.take(1).ok_or(Refusal::Busy)?;
        Ok(slot.with_share(share))
    }

    fn refuse(&self, taken: ShareTaken) -> Refusal {
        Refusal::CallerBusy {
            what: self.what,
            limit: taken.limit,
        }
    }
}

/// A caller that was let in, and the limits it is held to.
///
/// Cheap to clone, so that a call can keep it for as long as it runs.
#[derive(Clone, Debug)]
pub struct Admission {
    caller: Caller,
    address: Option<IpAddr>,
    rules: Option<Arc<AdmissionPolicy>>,
    /// The calls of a client on stdio, which no rules are for.
    line: Option<Arc<Slots>>,
}

impl Admission {
    /// A pass that is held to nothing, for a caller that did not come through
    /// HTTP: one on stdio, or one in a test.
    #[must_use]
    pub fn unlimited(caller: Caller) -> Self {
        Self {
            caller,
            address: None,
            rules: None,
            line: None,
        }
    }

    /// The pass of a client on stdio, whose calls take a place in `calls`.
    pub fn of_line(calls: &Arc<Slots>) -> Self {
        Self {
            line: Some(Arc::clone(calls)),
            ..Self::unlimited(Caller::anonymous())
        }
    }

    pub(super) fn new(
        caller: Caller,
        address: Option<IpAddr>,
        rules: &Arc<AdmissionPolicy>,
    ) -> Self {
        Self {
            caller,
            address,
            rules: Some(Arc::clone(rules)),
            line: None,
        }
    }

    /// The caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns whether lists leave out entries that the caller may not use.
    pub fn hides(&self) -> bool {
        let rules = self.rules.as_ref();
        rules.is_some_and(|rules| rules.gate().hides())
    }

    /// The transport of the request, in OpenTelemetry's words.
    pub fn transport(&self) -> &'static str {
        match self.rules {
            Some(_) => "tcp",
            None => "pipe",
        }
    }

    /// Checks that the caller's scopes are enough for `method` on `name`.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] whose answer names every scope the request needs, so that
    /// the client can get them in one go.
    pub fn may(&self, method: &str, name: Option<&str>) -> Result<(), Refusal> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        rules.check(&self.caller, method, name)
    }

    /// Charges the caller for `count` questions it is about to be asked.
    ///
    /// # Errors
    ///
    /// [`Refusal::Throttled`] when the caller has had itself asked too often:
    /// do not ask.
    pub fn charge_questions(&self, count: u32, now: Instant) -> Result<(), Refusal> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        rules
            .rates()
            .charge_questions(self.rate_key(), count, now)
            .map_err(|retry_after| Refusal::Throttled { retry_after })
    }

    pub(super) fn charge_call(&self, now: Instant) -> Result<(), Refusal> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        rules
            .rates()
            .charge_call(self.rate_key(), now)
            .map_err(|retry_after| Refusal::Throttled { retry_after })
    }

    /// The most messages that the caller's allowance could ever cover at once.
    pub fn largest_batch(&self) -> usize {
        let burst = self.rules.as_ref().and_then(|rules| {
            let rates = rules.rates();
            rates.call_burst(self.rate_key())
        });
        burst.map_or(usize::MAX, |burst| burst as usize)
    }

    /// Charges the caller for a batch of `count` messages, of which the POST
    /// that brought them has paid for one.
    ///
    /// # Errors
    ///
    /// [`Refusal::Throttled`] says when the whole batch could be served.
    pub fn charge_batch(&self, count: u32, now: Instant) -> Result<(), Refusal> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        rules
            .rates()
            .charge_batch(self.rate_key(), count, now)
            .map_err(|retry_after| Refusal::Throttled { retry_after })
    }

    /// Takes a place among the running calls.
    ///
    /// # Errors
    ///
    /// [`Refusal::Busy`] or [`Refusal::CallerBusy`] if every place is taken.
    pub fn take_call(&self) -> Result<Option<Slot>, Refusal> {
        match (&self.rules, &self.line) {
            (Some(rules), _) => rules.calls.take(self.rate_key()).map(Some),
            (None, Some(line)) => line.take(1).map(Some).ok_or(Refusal::Busy),
            (None, None) => Ok(None),
        }
    }

    pub(super) fn rate_key(&self) -> RateKey<'_> {
        RateKey::new(self.caller.principal(), self.address)
    }
}

/// Operation that a request asks for, as its headers name it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the arguments of a scope policy")]
pub struct Operation<'a> {
    /// The operation.
    pub method: Cow<'a, str>,
    /// The thing it is called on.
    pub name: Option<Cow<'a, str>>,
}

/// Time that an authenticator may take that has to wait for something.
const PATIENCE: Duration = Duration::from_secs(10);
