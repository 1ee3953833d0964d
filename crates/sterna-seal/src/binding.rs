//! What a token is tied to: where, who and what was asked for.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use crate::canonical::{CanonicalError, canonical};
use crate::digest::{DIGEST_LEN, Digest};

/// Everything a token is tied to. A token opens only under the binding it was
/// sealed with.
///
/// Built once for a request and used both to open the state that came with it
/// and to seal the state that goes back. What it ties to is digested when a
/// token is at hand: most requests end without one.
///
/// # Examples
///
/// ```
/// use sterna_seal::{Binding, Principal, Realm, Target};
///
/// let realm = Realm::new("https://tools.example", None);
/// let deploy = Target::new("tools/call", "deploy");
/// let alice = Principal::named("https://login.example", "alice", Some("editor"));
///
/// let asked = Binding::new(&realm, &alice, &deploy, Some(r#"{"env":"prod","n":1}"#))?;
/// let retried = Binding::new(&realm, &alice, &deploy, Some(r#"{"n":1.0, "env":"prod"}"#))?;
/// assert_eq!(asked, retried);
/// # Ok::<(), sterna_seal::CanonicalError>(())
/// ```
#[derive(Clone)]
pub struct Binding {
    realm: Realm,
    principal: Principal,
    /// The method, then the name.
    target: String,
    method_len: usize,
    target_digest: Option<TargetDigest>,
    /// In their canonical spelling.
    arguments: Option<Vec<u8>>,
    seal: OnceLock<BindingSeal>,
}

/// What a token itself carries of its binding, in 41 bytes.
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

/// 192 bits: nobody finds two sets of arguments with one digest.
pub(crate) const SEAL_LEN: usize = 24;

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
        Ok(Self {
            realm: *realm,
            principal: *principal,
            target: [target.method, target.name].concat(),
            method_len: target.method.len(),
            target_digest: target.digest,
            arguments: arguments.map(canonical).transpose()?,
            seal: OnceLock::new(),
        })
    }

    pub(crate) fn realm(&self) -> &[u8; DIGEST_LEN] {
        self.realm.digest()
    }

    pub(crate) fn seal(&self) -> &BindingSeal {
        self.seal.get_or_init(|| {
            let Principal { is_named, digest } = self.principal;
            let (method, name) = self.target.split_at(self.method_len);
            let target = self.target_digest;
            let TargetDigest(target) = target.unwrap_or_else(|| Target::new(method, name).digest());
            let all = Digest::new("sterna binding v1")
                .part(&[u8::from(is_named)])
                .part(&digest)
                .part(&target)
                .optional(self.arguments.as_deref())
                .finish();
            BindingSeal {
                is_named,
                principal: first(&digest),
                target: first(&target),
                digest: first(&all),
            }
        })
    }

    /// A number that other bindings do not have, unless by a chance of 2⁻⁶⁴ or
    /// by the hard work of somebody who knows both.
    pub(crate) fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.realm.digest);
        hasher.write_u8(u8::from(self.principal.is_named));
        hasher.write(&self.principal.digest);
        hasher.write_usize(self.method_len);
        hasher.write_usize(self.target.len());
        hasher.write(self.target.as_bytes());
        hasher.write(self.arguments.as_deref().unwrap_or_default());
        hasher.finish()
    }
}

impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        self.realm == other.realm && self.seal() == other.seal()
    }
}

impl Eq for Binding {}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Binding(..)")
    }
}

/// Where tokens are valid: the audience that issues and takes them, and the
/// tenant within it.
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

/// Who is calling. Nobody in particular and somebody never match.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Principal {
    is_named: bool,
    digest: [u8; DIGEST_LEN],
}

impl Principal {
    /// A caller that was not asked who they are.
    pub const ANONYMOUS: Self = Self {
        is_named: false,
        digest: [0; DIGEST_LEN],
    };

    /// A caller whom `issuer` calls `subject`, acting through `client`.
    pub fn named(issuer: &str, subject: &str, client: Option<&str>) -> Self {
        let digest = Digest::new("sterna principal v1")
            .part(issuer.as_bytes())
            .part(subject.as_bytes())
            .optional(client.map(str::as_bytes))
            .finish();
        Self {
            is_named: true,
            digest,
        }
    }

    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    pub(crate) fn mark(&self) -> [u8; MARK_LEN] {
        first(&self.digest)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_named {
            "Principal(named)"
        } else {
            "Principal(anonymous)"
        })
    }
}

/// What is called: a method and the name of its object, such as a tool.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    method: &'a str,
    name: &'a str,
    digest: Option<TargetDigest>,
}

/// The digest of a [`Target`], for whoever serves the same one again and again.
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

fn first<const N: usize>(digest: &[u8; DIGEST_LEN]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&digest[..N]);
    bytes
}
