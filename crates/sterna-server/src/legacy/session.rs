//! A session as its id tells it.

use std::time::Duration;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::legacy::RequestMeta as LegacyMeta;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::version::ProtocolVersion;
use sterna_seal::{
    Binding, Draft, Flow, FlowId, Lifetimes, Principal, SealError, Target, ThreadEntropy,
};

use super::v1::{self, Agreed};
use crate::auth::Caller;
use crate::core::Core;
use crate::rounds::now;

/// What `initialize` agreed on, opened from a session's id.
pub(super) struct Session {
    /// The name of the session, which an instance remembers things under.
    pub(super) key: Key,
    pub(super) version: ProtocolVersion,
    pub(super) client: Implementation,
    pub(super) capabilities: ClientCapabilities,
}

/// The name of a session.
pub(super) type Key = [u8; 16];

impl Session {
    /// The id of a new session; `None` if it cannot be sealed, which has been
    /// logged.
    pub(super) fn mint(core: &Core, caller: &Caller, agreed: &Agreed) -> Option<String> {
        let minted = bind(core, caller, &TARGET).map(|binding| {
            let id = FlowId::mint(&binding, now(), &mut ThreadEntropy)?;
            let payload = v1::write(agreed);
            let draft = Draft::new(Flow::begin(id, now()), &payload)
                .with_lifetimes(Lifetimes::new(LIFETIME, LIFETIME));
            let ring = core.keys.current();
            let sealed = ring.seal(&draft, &binding, now(), &mut ThreadEntropy)?;
            Ok::<_, SealError>(sealed.token)
        })?;
        minted
            .inspect_err(|error| {
                tracing::error!(target: "sterna::legacy", %error, "MR0300: a session cannot be opened");
            })
            .ok()
    }

    /// Reads the session id of `caller`; `None` if it is garbled, expired, or
    /// somebody else's. Which it was goes to the log.
    pub(super) fn open(core: &Core, caller: &Caller, id: &str) -> Option<Self> {
        let binding = bind(core, caller, &TARGET)?;
        let claims = match core.keys.current().open(id, &binding, now()) {
            Ok(claims) => claims,
            Err(reason) => {
                let reason = reason.label();
                tracing::info!(target: "sterna::legacy", reason, "a session id was refused");
                return None;
            }
        };
        let Agreed {
            version,
            client,
            capabilities,
        } = v1::read(claims.content.inline()?)?;
        Some(Self {
            key: claims.flow.id.to_bytes(),
            version,
            client,
            capabilities,
        })
    }

    /// What a request within the session says of itself, told as one that
    /// stands alone would tell it.
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
    let caller = caller.principal();
    let principal = match (caller.issuer(), caller.subject()) {
        (Some(issuer), Some(subject)) => Principal::named(issuer, subject, caller.client()),
        _ => Principal::ANONYMOUS,
    };
    Binding::new(&core.realm, &principal, target, None).ok()
}

/// How long a session lasts. A day: whoever comes back later opens another, as
/// every client does that is told 404.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// What a session id is for.
const TARGET: Target<'static> = Target::new("initialize", "session");
