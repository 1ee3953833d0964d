//! Opening and breaking of request state, with the keys of the server.

use std::time::Duration;

use serde_json::Value;
use sterna_http::clock;
use sterna_seal::{
    Binding, Inspection, Keyring, Lifetimes, OpenError, Principal, Realm, SealRequest, Target,
    ThreadEntropy, UnixMillis,
};
use sterna_server::SealedState;

use crate::record::{CallKind, CallRequest};
use crate::token::{CheckError, Circumstances, TokenCheck, checks};

/// Keys of the inspected server, and the realm of its tokens.
pub(crate) struct Workbench {
    keys: Keyring,
    audience: Option<String>,
    tenant: Option<String>,
}

/// A token that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) seen: Inspection,
    /// `None` if the state is in a blob store or of another release.
    pub(crate) state: Option<SealedState>,
    pub(crate) realm: Realm,
}

/// A change to a token or its request that a server must refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Alteration {
    /// The same state, sealed so long ago that its round is over.
    Expire,
    /// Another character at this position.
    Flip(usize),
    /// The same state for another tool, prompt or resource.
    Swap(String),
}

/// A token that was altered.
#[derive(Debug)]
pub(crate) struct AlteredToken {
    pub(crate) state: String,
    /// Name in the request, if it is another one.
    pub(crate) name: Option<String>,
    pub(crate) what: String,
    /// Reason of the check that refuses it; `None` if none does.
    pub(crate) refusal: Option<(String, String)>,
}

/// A caller that a check is made for.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerFields {
    pub(crate) issuer: String,
    pub(crate) subject: String,
    pub(crate) client: String,
}

impl CallerFields {
    pub(crate) fn principal(&self) -> Principal {
        if self.issuer.is_empty() && self.subject.is_empty() {
            return Principal::anonymous();
        }
        let principal = Principal::named(&self.issuer, &self.subject);
        match self.client.as_str() {
            "" => principal,
            client => principal.through(client),
        }
    }
}

impl Workbench {
    pub(crate) fn new(keys: Keyring, audience: Option<String>, tenant: Option<String>) -> Self {
        Self {
            keys,
            audience,
            tenant,
        }
    }

    /// Opens a token of the server that is called `server`.
    pub(crate) fn open(&self, token: &str, server: &str) -> Result<Opened, OpenError> {
        let realm = self.realm(server);
        let seen = self.keys.inspect(token, &realm)?;
        let state = seen.content.inline().and_then(SealedState::decode);
        Ok(Opened { seen, state, realm })
    }

    /// Name of the audience that tokens are opened for.
    pub(crate) fn audience<'a>(&'a self, server: &'a str) -> &'a str {
        self.audience.as_deref().unwrap_or(server)
    }

    fn realm(&self, server: &str) -> Realm {
        Realm::new(self.audience(server), self.tenant.as_deref())
    }

    /// Reason for which the server would refuse a token that comes with
    /// `request`, as its own check says.
    pub(crate) fn refusal(
        &self,
        token: &str,
        server: &str,
        request: &CallRequest,
        caller: &CallerFields,
    ) -> Option<(String, String)> {
        let realm = self.realm(server);
        let reasons = bindings(&realm, request, caller)
            .into_iter()
            .map(|binding| self.keys.open(token, &binding, now()).err());
        let reasons: Option<Vec<OpenError>> = reasons.collect();
        let reason = reasons?.into_iter().next()?;
        Some((reason.label().to_owned(), reason.to_string()))
    }

    /// Alters a token; `None` if it cannot be altered that way.
    pub(crate) fn alter(
        &self,
        token: &str,
        server: &str,
        request: &CallRequest,
        caller: &CallerFields,
        alteration: &Alteration,
    ) -> Option<AlteredToken> {
        let mut sent = request.clone();
        let (state, what) = match alteration {
            Alteration::Flip(at) => {
                let state = flipped(token, *at)?;
                (state, format!("character {at} of the state changed"))
            }
            Alteration::Swap(name) => {
                sent.name.clone_from(name);
                let word = request.kind.word();
                (token.to_owned(), format!("sent for the {word} `{name}`"))
            }
            Alteration::Expire => {
                let state = self.expired(token, server, request, caller)?;
                (state, "sealed so that its round is over".to_owned())
            }
        };
        Some(AlteredToken {
            refusal: self.refusal(&state, server, &sent, caller),
            name: (sent.name != request.name).then_some(sent.name),
            state,
            what,
        })
    }

    /// The same state, sealed in the past.
    fn expired(
        &self,
        token: &str,
        server: &str,
        request: &CallRequest,
        caller: &CallerFields,
    ) -> Option<String> {
        let opened = self.open(token, server).ok()?;
        let payload = opened.seen.content.inline()?;
        let binding = bindings(&opened.realm, request, caller)
            .into_iter()
            .find(|binding| opened.seen.is_of_request(binding))?;
        // A round of one second that began five seconds ago.
        let past = UnixMillis::new(now().get() - 5000);
        let lifetimes = Lifetimes::new(Duration::from_secs(1), Lifetimes::default().flow);
        let draft = SealRequest::new(opened.seen.flow, payload).with_lifetimes(lifetimes);
        let sealed = self.keys.seal(&draft, &binding, past, &mut ThreadEntropy);
        sealed.ok().map(|sealed| sealed.token)
    }
}

impl std::fmt::Debug for Workbench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workbench").finish_non_exhaustive()
    }
}

impl Opened {
    /// Makes the checks of a server for these circumstances.
    pub(crate) fn checks(
        &self,
        request: &CallRequest,
        caller: &CallerFields,
        at: UnixMillis,
    ) -> Result<Vec<TokenCheck>, CheckError> {
        let arguments = arguments(request);
        let mut given = Circumstances::at(at);
        given.principal = Some(caller.principal());
        given.target = Some(Target::new(request.kind.method(), &request.name));
        given.arguments = arguments.as_deref();
        checks(&self.seen, &self.realm, &given)
    }
}

/// Bindings that a server may have made of a request: without arguments it may
/// have been sent none, or an empty object.
fn bindings(realm: &Realm, request: &CallRequest, caller: &CallerFields) -> Vec<Binding> {
    let target = Target::new(request.kind.method(), &request.name);
    let principal = caller.principal();
    let spelled = arguments(request);
    let none = request.arguments.is_empty().then_some(None);
    let tried = [spelled.as_deref().map(Some), none].into_iter().flatten();
    tried
        .filter_map(|arguments| Binding::new(realm, &principal, &target, arguments).ok())
        .collect()
}

/// The arguments as JSON; resources have none.
fn arguments(request: &CallRequest) -> Option<String> {
    match request.kind {
        CallKind::Resource => None,
        CallKind::Prompt | CallKind::Tool => {
            Some(Value::Object(request.arguments.clone()).to_string())
        }
    }
}

/// The token with another letter of its alphabet at `at`.
fn flipped(token: &str, at: usize) -> Option<String> {
    let found = token.get(at..=at)?;
    let other = if found == "A" { "B" } else { "A" };
    let (before, after) = (token.get(..at)?, token.get(at + 1..)?);
    Some(format!("{before}{other}{after}"))
}

/// The time.
pub(crate) fn now() -> UnixMillis {
    clock::Clock::system().now().into()
}
