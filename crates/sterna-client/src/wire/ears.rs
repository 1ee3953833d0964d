use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::RequestId;

use crate::oauth::BoxFuture;
use crate::transport::Outgoing;

/// What is done with that which comes before the answer.
pub(crate) trait Ears: Sync {
    /// Hears a notification; whether it was progress of this very request.
    fn hear(&self, method: &str, params: Option<&RawValue>) -> bool;

    /// Whether somebody is being asked for the server, although not on the
    /// stream of this request.
    fn is_asking(&self) -> bool {
        false
    }

    /// Answers a request of the server, as only earlier revisions have them,
    /// unless it is taken back.
    fn answer(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Option<Outgoing>>>;
}

/// Hears nothing and answers nothing.
pub(crate) struct Deaf;

impl Ears for Deaf {
    fn hear(&self, _: &str, _: Option<&RawValue>) -> bool {
        false
    }

    fn answer(
        &self,
        _: RequestId,
        _: &str,
        _: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Option<Outgoing>>> {
        None
    }
}
