//! A session as its id tells it.

use sterna_http::auth::Caller;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::legacy::RequestMeta as LegacyMeta;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::version::ProtocolVersion;
use sterna_seal::{
    Binding, Flow, Lifetimes, SealError, SealRequest, Target, ThreadEntropy, UnixMillis,
    mint_flow_id,
};

use super::v1::{self, Agreed};
use crate::core::Core;
use crate::session_table::Key;

/// Session of a client: its name, and what `initialize` agreed on.
pub(crate) struct Session {
    /// The name of the session, which an instance remembers things under.
    pub(super) key: Key,
    /// Time at which its id expires.
    pub(super) expires_at: UnixMillis,
    pub(super) version: ProtocolVersion,
    pub(super) client: Implementation,
    pub(super) capabilities: ClientCapabilities,
}

impl Session {
    /// A new session and its id; `None` if the id cannot be sealed, which has
    /// been logged.
    pub(super) fn mint(core: &Core, caller: &Caller, agreed: Agreed) -> Option<(Self, String)> {
        let lifetime = core.session_lifetime;
        let binding = bind(core, caller, &TARGET)?;
        let begun = core.now();
        let seal = || {
            let id = mint_flow_id(&binding, begun, &mut ThreadEntropy)?;
            let payload = v1::write(&agreed);
            let draft = SealRequest::new(Flow::begin(id, begun), &payload)
                .with_lifetimes(Lifetimes::new(lifetime, lifetime));
            let ring = core.keys.current();
            let sealed = ring.seal(&draft, &binding, begun, &mut ThreadEntropy)?;
            Ok::<_, SealError>((*id.as_bytes(), sealed.token))
        };
        let sealed = seal().inspect_err(|error| {
            tracing::error!(target: "sterna::sessions", %error, "MR0300: a session cannot be opened");
        });
        let (key, token) = sealed.ok()?;
        Some((Self::of(key, begun + lifetime, agreed), token))
    }

    /// Reads the session id of `caller`; `None` if it is garbled, expired, or
    /// another caller's. The reason goes to the log.
    pub(super) fn open(core: &Core, caller: &Caller, id: &str) -> Option<Self> {
        let binding = bind(core, caller, &TARGET)?;
        let claims = match core.keys.current().open(id, &binding, core.now()) {
            Ok(claims) => claims,
            Err(reason) => {
                let reason = reason.label();
                tracing::info!(target: "sterna::sessions", reason, "a session id was refused");
                return None;
            }
        };
        let agreed = v1::read(claims.content.inline()?)?;
        let key = *claims.flow.id.as_bytes();
        Some(Self::of(key, claims.expires_at, agreed))
    }

    fn of(key: Key, expires_at: UnixMillis, agreed: Agreed) -> Self {
        Self {
            key,
            expires_at,
            version: agreed.version,
            client: agreed.client,
            capabilities: agreed.capabilities,
        }
    }

    /// Returns the `_meta` of a request within the session as a request of
    /// 2026-07-28 would have it.
    pub(super) fn meta(&self, sent: Option<LegacyMeta>) -> RequestMeta {
        let sent = sent.unwrap_or_default();
        let mut meta = RequestMeta::new(self.version.clone(), self.capabilities.clone())
            .with_client_info(self.client.clone());
        meta.progress_token = sent.progress_token;
        meta.traceparent = sent.traceparent;
        meta.tracestate = sent.tracestate;
        meta.baggage = sent.baggage;
        meta
    }
}

/// Binds what is sealed to the caller and to what it is for.
pub(super) fn bind(core: &Core, caller: &Caller, target: &Target<'_>) -> Option<Binding> {
    Binding::new(&core.realm, caller.principal(), target, None).ok()
}

/// Target that a session id is bound to.
const TARGET: Target<'static> = Target::new("initialize", "session");
