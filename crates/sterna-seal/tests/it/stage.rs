//! A server, its callers and a clock, all decided by the test.

use std::time::Duration;

use sterna_seal::{
    Binding, Entropy, EntropyError, Flow, FlowId, Key, Keyring, Principal, Realm, SealRequest,
    SecretKey, Target, UnixMillis,
};

/// 2026-07-28T00:00:00Z.
pub(crate) const NOW: UnixMillis = UnixMillis::new(1_785_196_800_000);

pub(crate) const SECOND: u64 = 1000;
pub(crate) const MINUTE: u64 = 60 * SECOND;
pub(crate) const HOUR: u64 = 60 * MINUTE;

/// `NOW` moved by so many milliseconds.
pub(crate) fn later(millis: u64) -> UnixMillis {
    NOW + Duration::from_millis(millis)
}

pub(crate) fn earlier(millis: u64) -> UnixMillis {
    UnixMillis::new(NOW.get() - i64::try_from(millis).unwrap())
}

/// A different secret for every letter.
pub(crate) fn secret(letter: char) -> SecretKey {
    let text = format!("{letter} is the letter of this secret key");
    SecretKey::from_bytes(text.as_bytes()).unwrap()
}

pub(crate) fn ring(letters: &str) -> Keyring {
    Keyring::new(letters.chars().map(|letter| Key::new(secret(letter)))).unwrap()
}

/// A caller, a target and its arguments; every field can be changed.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) audience: &'static str,
    pub(crate) tenant: Option<&'static str>,
    pub(crate) principal: Principal,
    pub(crate) method: &'static str,
    pub(crate) name: &'static str,
    pub(crate) arguments: Option<&'static str>,
}

impl Request {
    pub(crate) fn by_alice() -> Self {
        Self {
            audience: "https://tools.example",
            tenant: Some("acme"),
            principal: Principal::named("https://login.example", "alice").through("editor"),
            method: "tools/call",
            name: "deploy",
            arguments: Some(r#"{"service":"billing","replicas":3}"#),
        }
    }

    pub(crate) fn binding(&self) -> Binding {
        let realm = Realm::new(self.audience, self.tenant);
        let target = Target::new(self.method, self.name);
        Binding::new(&realm, &self.principal, &target, self.arguments).unwrap()
    }
}

pub(crate) fn named(issuer: &str, subject: &str, client: Option<&str>) -> Principal {
    let principal = Principal::named(issuer, subject);
    match client {
        Some(client) => principal.through(client),
        None => principal,
    }
}

pub(crate) fn flow() -> Flow {
    Flow::begin(FlowId::from_bytes(*b"flow-of-the-test"), NOW)
}

/// Seals a payload for Alice's first round, at `NOW`.
pub(crate) fn seal(ring: &Keyring, payload: &[u8]) -> String {
    let binding = Request::by_alice().binding();
    let draft = SealRequest::new(flow(), payload);
    let sealed = ring.seal(&draft, &binding, NOW, &mut Counting::default());
    sealed.unwrap().token
}

/// A generator that counts: every draw differs, and every run is the same.
#[derive(Default)]
pub(crate) struct Counting(u64);

impl Entropy for Counting {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        self.0 += 1;
        for (byte, count) in bytes.iter_mut().zip(self.0.to_le_bytes().iter().cycle()) {
            *byte = *count;
        }
        Ok(())
    }
}
