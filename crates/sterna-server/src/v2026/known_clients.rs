//! Clients that a connection has heard of.

use std::sync::Mutex;

use sterna_http::Inbound;
use sterna_protocol::direct::{self, ClientMemory};
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::methods::ClientRequest;
use sterna_seal::Principal;

/// Parts of `_meta` that the requests of a connection repeat, of one caller.
#[derive(Default)]
pub(super) struct KnownClients(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// The caller whose requests are remembered; `None` before the first.
    caller: Option<Principal>,
    memory: ClientMemory,
}

impl KnownClients {
    /// Reads a request that is spelled as usual; `None` for all others, which
    /// the careful decoder judges.
    pub(super) fn read(inbound: &Inbound) -> Option<(RequestId, ClientRequest)> {
        let known = inbound.connection.get_or_default::<Self>();
        // Requests of HTTP/2 that come at the same time do not wait for each other.
        let Some(mut known) = known.and_then(|known| known.0.try_lock().ok()) else {
            return direct::request(&inbound.body, &mut ClientMemory::disabled());
        };
        let caller = inbound.admission.caller().principal();
        direct::request(&inbound.body, known.memory_of(caller))
    }
}

impl Known {
    /// The memory of a caller. Behind a proxy that keeps its connections,
    /// callers take turns, and none must notice another by the time that its
    /// requests take: what was remembered of the last one is dropped.
    fn memory_of(&mut self, caller: &Principal) -> &mut ClientMemory {
        if self.caller.as_ref() != Some(caller) {
            self.caller = Some(caller.clone());
            self.memory = ClientMemory::default();
        }
        &mut self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    #[test]
    fn nothing_is_remembered_for_another_caller() {
        let mut known = Known::default();
        let (ada, ben) = (
            Principal::named("https://issuer.example", "ada"),
            Principal::named("https://issuer.example", "ben"),
        );
        for caller in [&ada, &ben, &ada, &Principal::anonymous()] {
            let memory = known.memory_of(caller);
            assert!(memory.is_empty(), "{caller:?}");
            assert!(direct::request(BODY, memory).is_some());
            assert_eq!(known.memory_of(caller).len(), 2);
        }
    }
}
