//! What a caller that was let in may still do.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use super::rate::Payer;
use super::refusal::Refusal;
use super::rules::Rules;
use crate::auth::Caller;

/// A caller that was let in, and the limits it is held to.
///
/// Cheap to clone, so that a call can keep it for as long as it runs.
#[derive(Clone, Debug)]
pub struct Pass {
    caller: Caller,
    address: Option<IpAddr>,
    rules: Option<Arc<Rules>>,
}

impl Pass {
    /// A pass that is held to nothing, for a caller that did not come through
    /// the edge: one on stdio, or one in a test.
    #[must_use]
    pub fn unlimited(caller: Caller) -> Self {
        Self {
            caller,
            address: None,
            rules: None,
        }
    }

    pub(super) fn new(caller: Caller, address: Option<IpAddr>, rules: &Arc<Rules>) -> Self {
        Self {
            caller,
            address,
            rules: Some(Arc::clone(rules)),
        }
    }

    /// Who is calling.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whether lists leave out what the caller may not use.
    pub(crate) fn hides(&self) -> bool {
        let rules = self.rules.as_ref();
        rules.is_some_and(|rules| rules.gate().hides())
    }

    /// What the request came over, in OpenTelemetry's words.
    pub(crate) fn transport(&self) -> &'static str {
        match self.rules {
            Some(_) => "tcp",
            None => "pipe",
        }
    }

    /// Whether the caller's scopes are enough for `method` on `name`.
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
            .charge_questions(self.payer(), count, now)
            .map_err(|retry_after| Refusal::Throttled { retry_after })
    }

    pub(super) fn charge_call(&self, now: Instant) -> Result<(), Refusal> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        rules
            .rates()
            .charge_call(self.payer(), now)
            .map_err(|retry_after| Refusal::Throttled { retry_after })
    }

    fn payer(&self) -> Payer<'_> {
        Payer::new(self.caller.principal(), self.address)
    }
}
