//! Binding of a token to a realm, a caller and a request.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use ring::digest::{Context, SHA256};
use sterna_types::Principal;

use crate::canonical::{CanonicalError, canonical};
use crate::cipher::TAG_LEN;
use crate::keyed::SecretSum;

/// Everything a token is tied to. A token opens only under the binding it was
/// sealed with.
///
/// Built once for a request and used both to open the state that came with it
/// and to seal the state that goes back.
///
/// # Examples
///
/// ```
/// use sterna_seal::{Binding, Principal, Realm, Target};
///
/// let realm = Realm::new("https://tools.example", None);
/// let deploy = Target::new("tools/call", "deploy");
/// let alice = Principal::named("https://login.example", "alice").through("editor");
///
/// let asked = Binding::new(&realm, &alice, &deploy, Some(r#"{"env":"prod","n":1}"#))?;
/// let retried = Binding::new(&realm, &alice, &deploy, Some(r#"{"n":1.0, "env":"prod"}"#))?;
/// assert_eq!(asked, retried);
/// # Ok::<(), sterna_seal::CanonicalError>(())
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct Binding {
    realm: Realm,
    is_named: bool,
    /// Everything but the realm, as it is summed up: whether the caller is
    /// known, the digests of caller and target, whether there are arguments,
    /// and those in their canonical spelling.
    bound: Vec<u8>,
}

/// The binding as a token carries it, in 33 bytes.
///
/// `digest` covers principal, target and arguments and is what decides. The
/// two marks only let the log say which of them was another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BindingSeal {
    pub(crate) is_named: bool,
    pub(crate) principal: [u8; MARK_LEN],
    pub(crate) target: [u8; MARK_LEN],
    pub(crate) digest: [u8; SEAL_LEN],
}

/// The digest has a secret key: an attacker who looks for two sets of arguments
/// with one digest needs a request to the server for each try.
pub(crate) const SEAL_LEN: usize = TAG_LEN;

pub(crate) const MARK_LEN: usize = 8;

impl Binding {
    /// Ties to a request for `target` made by `principal` in `realm`.
    ///
    /// `arguments` is the JSON text of the request's arguments as it arrived,
    /// or `None` if this kind of request has none. Its order, spacing and
    /// spelling do not matter (RFC 8785).
    ///
    /// # Errors
    ///
    /// [`CanonicalError`] if `arguments` is not JSON, or JSON that two readers
    /// may understand differently. It is then the caller's request that is
    /// refused as malformed.
    pub fn new(
        realm: &Realm,
        principal: &Principal,
        target: &Target<'_>,
        arguments: Option<&str>,
    ) -> Result<Self, CanonicalError> {
        let (is_named, digest) = (!principal.is_anonymous(), digest_of(principal));
        let TargetDigest(target) = target.digest.unwrap_or_else(|| target.digest());
        let room = arguments.map_or(0, str::len);
        let mut bound = Vec::with_capacity(ARGUMENTS_AT + room);
        bound.push(u8::from(is_named));
        bound.extend_from_slice(&digest);
        bound.extend_from_slice(&target);
        bound.push(u8::from(arguments.is_some()));
        if let Some(arguments) = arguments {
            bound = canonical(arguments, bound)?;
        }
        Ok(Self {
            realm: *realm,
            is_named,
            bound,
        })
    }

    /// Returns the digest of everything that is bound. Two requests with the
    /// same one are the same request, for a ledger that must tell them apart.
    pub fn digest(&self) -> [u8; 32] {
        Digest::new("sterna binding v1")
            .part(self.realm.digest())
            .part(&self.bound)
            .finish()
    }

    pub(crate) fn realm(&self) -> &[u8; DIGEST_LEN] {
        self.realm.digest()
    }

    /// The binding as a token under this key carries it.
    pub(crate) fn seal(&self, key: &SecretSum) -> BindingSeal {
        BindingSeal {
            is_named: self.is_named,
            principal: self.mark_at(PRINCIPAL_AT),
            target: self.mark_at(TARGET_AT),
            digest: key.of(&self.bound),
        }
    }

    fn mark_at(&self, at: usize) -> [u8; MARK_LEN] {
        let mark = self.bound[at..].first_chunk();
        *mark.expect("two digests stand before the arguments")
    }

    /// A number that no other binding has, except with a chance of 2⁻⁶⁴ or by hard
    /// work of an attacker who knows both bindings.
    pub(crate) fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.realm.digest);
        hasher.write(&self.bound);
        hasher.finish()
    }
}

const PRINCIPAL_AT: usize = 1;
const TARGET_AT: usize = PRINCIPAL_AT + DIGEST_LEN;
const ARGUMENTS_AT: usize = TARGET_AT + DIGEST_LEN + 1;

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Binding(..)")
    }
}

/// Realm in which tokens are valid: the audience that issues and takes them, and
/// the tenant within it.
///
/// Part of the associated data, so a token of another realm does not even
/// decrypt.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Realm {
    digest: [u8; DIGEST_LEN],
}

impl Realm {
    /// `audience` names the service, usually its public URL; all replicas must
    /// agree on it.
    pub fn new(audience: &str, tenant: Option<&str>) -> Self {
        let digest = Digest::new("sterna realm v1")
            .part(audience.as_bytes())
            .optional(tenant.map(str::as_bytes))
            .finish();
        Self { digest }
    }

    pub(crate) fn digest(&self) -> &[u8; DIGEST_LEN] {
        &self.digest
    }
}

impl fmt::Debug for Realm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Realm(..)")
    }
}

/// Digest of a caller's principal; zeros if the caller is anonymous.
pub(crate) fn digest_of(principal: &Principal) -> [u8; DIGEST_LEN] {
    let (Some(issuer), Some(subject)) = (principal.issuer(), principal.subject()) else {
        return [0; DIGEST_LEN];
    };
    Digest::new("sterna principal v1")
        .part(issuer.as_bytes())
        .part(subject.as_bytes())
        .optional(principal.client().map(str::as_bytes))
        .finish()
}

/// Target of a request: a method and the name of its object, such as a tool.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    method: &'a str,
    name: &'a str,
    digest: Option<TargetDigest>,
}

/// The digest of a [`Target`], for servers that serve the same target many times.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct TargetDigest([u8; DIGEST_LEN]);

impl<'a> Target<'a> {
    /// The object `name` of `method`.
    pub const fn new(method: &'a str, name: &'a str) -> Self {
        Self {
            method,
            name,
            digest: None,
        }
    }

    /// Its digest, to be kept.
    pub fn digest(&self) -> TargetDigest {
        let digest = Digest::new("sterna target v1")
            .part(self.method.as_bytes())
            .part(self.name.as_bytes());
        TargetDigest(digest.finish())
    }

    /// The same, with the digest that it was found to have before.
    #[must_use]
    pub const fn with_digest(mut self, digest: TargetDigest) -> Self {
        self.digest = Some(digest);
        self
    }

    pub(crate) fn mark(&self) -> [u8; MARK_LEN] {
        first(&self.digest().0)
    }
}

impl PartialEq for Target<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.method, self.name) == (other.method, other.name)
    }
}

impl Eq for Target<'_> {}

impl fmt::Debug for TargetDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TargetDigest(..)")
    }
}

impl fmt::Debug for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Target(..)")
    }
}

pub(crate) fn first<const N: usize>(digest: &[u8; DIGEST_LEN]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&digest[..N]);
    bytes
}

pub(crate) const DIGEST_LEN: usize = 32;

/// SHA-256 over parts of known boundaries, for one purpose.
pub(crate) struct Digest {
    context: Context,
}

impl Digest {
    /// `domain` keeps digests for different purposes apart; no domain may be
    /// the beginning of another.
    pub(crate) fn new(domain: &'static str) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(domain.as_bytes());
        Self { context }
    }

    /// Adds a part of any length, with its length before it.
    pub(crate) fn part(mut self, bytes: &[u8]) -> Self {
        self.context.update(&(bytes.len() as u64).to_be_bytes());
        self.context.update(bytes);
        self
    }

    /// Adds a part that may be missing, which differs from an empty one.
    pub(crate) fn optional(mut self, bytes: Option<&[u8]>) -> Self {
        self.context.update(&[u8::from(bytes.is_some())]);
        match bytes {
            Some(bytes) => self.part(bytes),
            None => self,
        }
    }

    pub(crate) fn finish(self) -> [u8; DIGEST_LEN] {
        let mut digest = [0; DIGEST_LEN];
        digest.copy_from_slice(self.context.finish().as_ref());
        digest
    }
}
