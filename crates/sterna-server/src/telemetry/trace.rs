//! The trace a request belongs to.

use ring::digest::{Context, SHA256};
use sterna_protocol::meta::RequestMeta;

/// The trace a request belongs to, as the client sent it in `_meta`, for
/// whatever the handler calls in turn.
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

/// The trace id in a `traceparent`; `None` if it is not well-formed or names
/// no trace.
pub(crate) fn trace_id(parent: &str) -> Option<[u8; 16]> {
    let mut parts = parent.split('-');
    let (version, trace, span, flags) = (
        hex(parts.next()?, 2)?,
        hex(parts.next()?, 32)?,
        hex(parts.next()?, 16)?,
        parts.next()?,
    );
    hex(flags, 2)?;
    // Version ff is reserved; a later version may have more parts, ours has not.
    let ends = version != 0 || parts.next().is_none();
    (version != 0xff && trace != 0 && span != 0 && ends).then(|| trace.to_be_bytes())
}

/// Whether others may be given `text` as a `tracestate` (BASE-B24).
fn is_tracestate(text: &str) -> bool {
    // Empty members are allowed, and mean nothing.
    let members = || text.split(',').map(trim).filter(|one| !one.is_empty());
    let is_key = |key: &str| {
        let mut bytes = key.bytes();
        let begins = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let goes_on = |byte: u8| begins(byte) || b"_-*/@".contains(&byte);
        key.len() <= 256 && bytes.next().is_some_and(begins) && bytes.all(goes_on)
    };
    let is_value = |value: &str| {
        let fits = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
        !value.is_empty() && value.len() <= 256 && value.bytes().all(fits)
    };
    let is_member = |member: &str| {
        let pair = member.split_once('=');
        pair.is_some_and(|(key, value)| is_key(key) && is_value(value))
    };
    text.len() <= 512 && (1..=32).contains(&members().count()) && members().all(is_member)
}

/// Whether others may be given `text` as `baggage` (BASE-B24).
fn is_baggage(text: &str) -> bool {
    let is_key = |key: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !key.is_empty() && key.bytes().all(fits)
    };
    let is_value = |value: &str| {
        let fits = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
        value.bytes().all(fits)
    };
    let is_pair = |pair: &str| {
        let pair = pair.split_once('=');
        pair.is_some_and(|(key, value)| is_key(trim(key)) && is_value(trim(value)))
    };
    let is_property = |property: &str| is_key(trim(property)) || is_pair(property);
    let is_member = |member: &str| {
        let mut parts = member.split(';');
        parts.next().is_some_and(is_pair) && parts.all(is_property)
    };
    text.len() <= 8192 && text.split(',').count() <= 64 && text.split(',').all(is_member)
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn hex(text: &str, digits: usize) -> Option<u128> {
    let fits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != digits || !text.bytes().all(fits) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
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

    #[test]
    fn only_a_well_formed_parent_names_a_trace() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let id = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128;
        assert_eq!(trace_id(good), Some(id.to_be_bytes()));
        let later = good.replace("00-0a", "01-0a") + "-more";
        assert_eq!(trace_id(&later), Some(id.to_be_bytes()));
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
    }
}
