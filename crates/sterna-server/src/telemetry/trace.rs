//! The trace a request belongs to.

use ring::digest::{Context, SHA256};
use sterna_protocol::meta::{RequestMeta, is_baggage, is_tracestate, trace_id};

/// The trace a request belongs to, as the client sent it in `_meta`, for
/// the services that the handler calls.
///
/// Nothing in it is more than a claim: it is for diagnosis, not for decisions.
#[derive(Clone, Copy)]
pub struct TraceContext<'a> {
    meta: &'a RequestMeta,
    id: [u8; 16],
}

impl<'a> TraceContext<'a> {
    pub(crate) fn new(meta: &'a RequestMeta, id: [u8; 16]) -> Self {
        Self { meta, id }
    }

    /// The trace id that all rounds of the flow share, in 32 hexadecimal
    /// digits: that of the first round, or one made for the flow if the
    /// client named none. Later rounds find it inside their state.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.id))
    }

    /// The W3C `traceparent` of this very request, if it has a valid one.
    #[must_use]
    pub fn traceparent(&self) -> Option<&'a str> {
        let parent = self.meta.traceparent.as_deref()?;
        trace_id(parent).map(|_| parent)
    }

    /// The W3C `tracestate` of this request, if it has a valid one. Without a
    /// `traceparent` it means nothing.
    #[must_use]
    pub fn tracestate(&self) -> Option<&'a str> {
        self.traceparent()?;
        let state = self.meta.tracestate.as_deref();
        state.filter(|state| is_tracestate(state))
    }

    /// The W3C `baggage` of this request, if it has a valid one. It may hold
    /// what users would not want to see in a log.
    #[must_use]
    pub fn baggage(&self) -> Option<&'a str> {
        let baggage = self.meta.baggage.as_deref();
        baggage.filter(|baggage| is_baggage(baggage))
    }
}

impl std::fmt::Debug for TraceContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceContext")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

/// The name of a flow for operators, and its trace if the client named none.
/// The id itself is a secret: what a handler draws at random derives from it.
pub(crate) fn flow_name(flow: [u8; 16]) -> [u8; 16] {
    let mut context = Context::new(&SHA256);
    context.update(b"sterna flow");
    context.update(&flow);
    let mut name = [0; 16];
    name.copy_from_slice(&context.finish().as_ref()[..16]);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_malformed_is_not_passed_on() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let meta = |parent: &str, list: &str| {
            let json = serde_json::json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "traceparent": parent,
                "tracestate": list,
                "baggage": list,
            });
            serde_json::from_value::<RequestMeta>(json).unwrap()
        };
        let many = vec!["a=1"; 33].join(",");
        let more = vec!["a=1"; 65].join(",");
        let long = format!("a={}", "1".repeat(511));
        for (parent, list, state, baggage) in [
            (parent, "rojo=1, congo=t61rcWkgMzE", true, true),
            ("00-nothing", "rojo=1", false, true),
            (parent, "a@b=1", true, false),
            (parent, "Rojo=1", false, true),
            (parent, "rojo=1;ttl=60;hidden", false, true),
            (parent, "rojo=1 2", true, false),
            (parent, "rojo=1,,", true, false),
            (parent, &many, false, true),
            (parent, &more, false, false),
            (parent, &long, false, true),
            (parent, "", false, false),
            (parent, ",", false, false),
            (parent, "rojo", false, false),
            (parent, "=1", false, false),
            (parent, "a b=1", false, false),
            (parent, "rojo=\"1\"", true, false),
            (parent, "rojo=ö", false, false),
            (parent, "rojo=1\r\nx: y", false, false),
        ] {
            let meta = meta(parent, list);
            let trace = TraceContext::new(&meta, [0; 16]);
            assert_eq!(trace.tracestate(), state.then_some(list), "{list}");
            assert_eq!(trace.baggage(), baggage.then_some(list), "{list}");
        }
    }

    #[test]
    fn a_flow_is_named_without_telling_its_id() {
        let name = |byte| format!("{:032x}", u128::from_be_bytes(flow_name([byte; 16])));
        assert_eq!(name(7), "19942d520fb82caa02c9a829e6480759");
        assert_ne!(name(7), name(8));
        assert!(!name(7).contains("0707"));
    }
}
