//! The OAuth 2.1 resource server: bearer tokens signed by a trusted issuer.

use super::claims::{Claims, Expected};
use super::jwks::{Found, KeySet};
use super::jws::Compact;
use super::key_cache::{Age, CachedKeys, KeyCache};
use super::{
    Algorithm, AuthConfigError, AuthOutcome, Authenticator, Caller, Denied, JwksSource,
    KeyCacheConfig, ResourceMetadata, ResourceUri, Scopes, TokenFault, bearer,
};
use crate::{Check, Checking, Health, clock};
use http::request::Parts;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use zeroize::Zeroizing;

/// The checks of a token beyond issuer and audience.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JwtConfig {
    /// The signatures we believe. All that use a key pair: each key says which
    /// of them it is for, so a longer list opens nothing.
    pub algorithms: Vec<Algorithm>,
    /// Largest error of the issuer's clock, at most a day. A minute: more than NTP
    /// leaves, less than a token's life.
    pub leeway: Duration,
    /// The longest token we read. 16 KiB: above what issuers make, below what
    /// is worth hashing for a stranger.
    pub token_bytes: usize,
    /// Audiences we accept besides the resource itself, for issuers that cannot
    /// name a resource (RFC 8707). None: every name here is one more service
    /// whose tokens work with us.
    pub more_audiences: Vec<String>,
    /// Cache of the issuers' keys.
    pub keys: KeyCacheConfig,
}

impl Default for JwtConfig {
    fn default() -> Self {
        Self {
            algorithms: Algorithm::ALL.to_vec(),
            leeway: Duration::from_secs(60),
            token_bytes: 16 * 1024,
            more_audiences: Vec::new(),
            keys: KeyCacheConfig::default(),
        }
    }
}

/// Lets in callers with a token that a trusted issuer signed for this server.
///
/// # Examples
///
/// ```
/// use sterna_http::auth::{JwksFile, JwtConfig, ResourceServer, Scopes};
///
/// let keys = JwksFile::new("/etc/mcp/jwks.json");
/// let server = ResourceServer::new(
///     "https://mcp.example.com/mcp",
///     "https://login.example.com",
///     keys,
///     JwtConfig::default(),
/// )?
/// .offering(&Scopes::parse("mcp"));
/// assert_eq!(
///     server.metadata_url(),
///     "https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
/// );
/// # Ok::<(), sterna_http::auth::AuthConfigError>(())
/// ```
#[derive(Clone)]
pub struct ResourceServer {
    resource: ResourceUri,
    config: Arc<JwtConfig>,
    issuers: Vec<Arc<Issuer>>,
    scopes: Scopes,
    metadata: ResourceMetadata,
}

pub(super) struct Issuer {
    pub(super) name: String,
    pub(super) keys: KeyCache,
}

impl ResourceServer {
    /// A server known to the world as `resource`. It believes tokens of
    /// `issuer`, spelled exactly as in their `iss` claim, when they are signed
    /// with one of its `keys`.
    ///
    /// # Errors
    ///
    /// [`AuthConfigError::Resource`] when `resource` is not an absolute address.
    pub fn new(
        resource: &str,
        issuer: &str,
        keys: impl JwksSource,
        mut config: JwtConfig,
    ) -> Result<Self, AuthConfigError> {
        config.leeway = config.leeway.min(MOST_LEEWAY);
        let resource = ResourceUri::new(resource)?;
        let server = Self {
            metadata: ResourceMetadata::new(&resource, [issuer], &Scopes::none()),
            resource,
            config: Arc::new(config),
            issuers: Vec::new(),
            scopes: Scopes::none(),
        };
        Ok(server.trusting(issuer, keys))
    }

    /// Believes tokens of one more issuer.
    #[must_use]
    pub fn trusting(mut self, issuer: &str, keys: impl JwksSource) -> Self {
        self.issuers.push(Arc::new(Issuer {
            name: issuer.to_owned(),
            keys: KeyCache::new(keys, self.config.keys.clone()),
        }));
        self.resource_metadata()
    }

    /// Names, in the metadata document, the scopes a client needs for basic use.
    #[must_use]
    pub fn offering(mut self, scopes: &Scopes) -> Self {
        self.scopes = scopes.clone();
        self.resource_metadata()
    }

    /// The address of the metadata document.
    #[must_use]
    pub fn metadata_url(&self) -> &str {
        self.metadata.url()
    }

    /// A readiness check: every issuer's keys are there. Lists their ids.
    #[must_use]
    pub fn check(&self) -> impl Check + use<> {
        KeysLoaded(self.issuers.clone())
    }

    fn resource_metadata(mut self) -> Self {
        let names = self.issuers.iter().map(|issuer| issuer.name.as_str());
        self.metadata = ResourceMetadata::new(&self.resource, names, &self.scopes);
        self
    }

    fn is_audience(&self, audience: &str) -> bool {
        self.resource.is_named_by(audience)
            || self
                .config
                .more_audiences
                .iter()
                .any(|more| more == audience)
    }

    fn verify(&self, token: &str, now: SystemTime) -> AuthOutcome {
        let unverified = match self.read(token) {
            Ok(unverified) => unverified,
            Err(fault) => return AuthOutcome::Denied(Denied::InvalidToken(fault)),
        };
        let cached = unverified.issuer.keys.cached(clock::now());
        let is_known = unverified.names_a_key_of(&cached);
        if is_known && cached.age != Age::Fresh {
            fetch_meanwhile(&unverified.issuer, cached.clone());
        }
        let waits = match cached.age {
            Age::Fresh | Age::Stale => !is_known,
            Age::Old => true,
        };
        if waits && cached.may_refresh {
            let (server, token) = (self.clone(), Zeroizing::new(token.to_owned()));
            return AuthOutcome::later(async move {
                let unverified = server.read(&token).map_err(Denied::InvalidToken)?;
                let keys = &unverified.issuer.keys;
                let cached = match is_known {
                    true => keys.refresh_soon(&cached).await,
                    false => keys.refresh(&cached).await,
                };
                server.verify_with(unverified, &cached, now)
            });
        }
        self.verify_with(unverified, &cached, now).into()
    }

    fn read<'a>(&self, token: &'a str) -> Result<UnverifiedToken<'a>, TokenFault> {
        if token.len() > self.config.token_bytes {
            return Err(TokenFault::Malformed);
        }
        let compact = Compact::parse(token)?;
        if !self.config.algorithms.contains(&compact.algorithm) {
            return Err(TokenFault::Algorithm);
        }
        let claims = Claims::parse(&compact.payload)?;
        let named = claims.issuer()?;
        let issuer = self.issuers.iter().find(|issuer| issuer.name == named);
        Ok(UnverifiedToken {
            issuer: Arc::clone(issuer.ok_or(TokenFault::Issuer)?),
            claims,
            compact,
        })
    }

    fn verify_with(
        &self,
        token: UnverifiedToken<'_>,
        cached: &CachedKeys,
        now: SystemTime,
    ) -> Result<Caller, Denied> {
        let keys = cached.keys.as_deref().ok_or(Denied::Unavailable)?;
        let signed = match token.key_in(keys) {
            Found::Key(key) => token.compact.is_signed_by(key),
            Found::Unfit => Err(TokenFault::Algorithm),
            Found::Unknown => Err(TokenFault::UnknownKey),
        };
        let expected = Expected {
            issuer: &token.issuer.name,
            leeway: self.config.leeway,
            is_audience: &|audience| self.is_audience(audience),
        };
        signed
            .and_then(|()| token.claims.check(&expected, now))
            .map_err(Denied::InvalidToken)
    }
}

/// Fetches the keys of an issuer while requests are judged by those at hand.
///
/// A task of its own, for no request is to wait for it. It ends with the fetch,
/// which is timed.
fn fetch_meanwhile(issuer: &Arc<Issuer>, seen: CachedKeys) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return;
    };
    if issuer.keys.claim_fetch(clock::now()) {
        let issuer = Arc::clone(issuer);
        runtime.spawn(async move { issuer.keys.refresh(&seen).await });
    }
}

/// A token that says who signed it. Believed only as far as to look that key up.
struct UnverifiedToken<'a> {
    issuer: Arc<Issuer>,
    compact: Compact<'a>,
    claims: Claims,
}

impl UnverifiedToken<'_> {
    fn key_in<'k>(&self, keys: &'k KeySet) -> Found<'k> {
        keys.find(self.compact.key_id.as_deref(), self.compact.algorithm)
    }

    fn names_a_key_of(&self, cached: &CachedKeys) -> bool {
        cached
            .keys
            .as_deref()
            .is_some_and(|keys| !matches!(self.key_in(keys), Found::Unknown))
    }
}

impl Authenticator for ResourceServer {
    fn authenticate(&self, head: &Parts, now: SystemTime) -> AuthOutcome {
        match bearer(&head.headers) {
            Ok(token) => self.verify(token, now),
            Err(denied) => AuthOutcome::Denied(denied),
        }
    }

    fn metadata(&self) -> Option<&ResourceMetadata> {
        Some(&self.metadata)
    }
}

impl std::fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let issuers: Vec<_> = self.issuers.iter().map(|issuer| &issuer.name).collect();
        f.debug_struct("ResourceServer")
            .field("resource", &self.resource.as_str())
            .field("issuers", &issuers)
            .finish_non_exhaustive()
    }
}

const MOST_LEEWAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Clone)]
pub(super) struct KeysLoaded(pub(super) Vec<Arc<Issuer>>);

impl Check for KeysLoaded {
    fn name(&self) -> &'static str {
        "jwks"
    }

    fn check(&self) -> Checking {
        let issuers = self.0.clone();
        Box::pin(async move {
            let mut ids = Vec::new();
            for issuer in &issuers {
                let mut cached = issuer.keys.cached(clock::now());
                if cached.keys.is_none() && cached.may_refresh {
                    cached = issuer.keys.refresh(&cached).await;
                }
                let Some(keys) = cached.keys else {
                    return Health::failing();
                };
                ids.extend(keys.ids().map(str::to_owned));
            }
            Health::passing().with_ids(ids)
        })
    }
}
