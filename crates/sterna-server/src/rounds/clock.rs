//! The time, as seal and flow count it.

use crate::edge::clock;

/// The moment, for tokens.
pub(crate) fn now() -> sterna_seal::UnixMillis {
    clock::wall().into()
}

/// The moment, for a flow.
pub(crate) fn flow_now() -> sterna_flow::UnixMillis {
    sterna_flow::UnixMillis::new(now().get())
}
