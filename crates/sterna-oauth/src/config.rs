//! Numbers and policies that have a safe default.

use std::time::Duration;

/// Limits and policies of an [`OAuth`](crate::OAuth) value.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Config {
    /// When tokens are bound to a key of ours.
    pub dpop: Dpop,
    /// Largest number of authorizations for one request. Three leaves room for a
    /// sign-in and two step-ups.
    pub max_authorizations: u32,
    /// Largest document or token response that is read. The largest metadata in
    /// use are a tenth of it.
    pub max_response_bytes: usize,
    /// Policy for a server without protected resource metadata.
    pub missing_metadata: MissingMetadata,
    /// Time before its expiry at which a token is renewed, so that it does not
    /// expire on the way.
    pub refresh_before: Duration,
    /// Longest wait for one answer of an authorization server.
    pub request_timeout: Duration,
    /// Longest wait for the user to sign in; authorization servers give up
    /// after about as much.
    pub user_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dpop: Dpop::WhenAsked,
            max_authorizations: 3,
            max_response_bytes: 256 * 1024,
            missing_metadata: MissingMetadata::Refuse,
            refresh_before: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            user_timeout: Duration::from_secs(600),
        }
    }
}

/// When tokens are bound to a key of ours (DPoP, RFC 9449).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dpop {
    /// Never; a server that insists on it cannot be used.
    Never,
    /// Always; an authorization server that cannot do it is refused.
    Required,
    /// When the MCP server asks for it, by its challenge or in its metadata.
    ///
    /// That the authorization server can do it is not enough: many can, in
    /// front of MCP servers that only know bearer tokens.
    WhenAsked,
}

/// Policy for a server without protected resource metadata.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingMetadata {
    /// Take the server's own origin for the authorization server, as revision
    /// 2025-03-26 did; if that publishes nothing either, use its `/authorize`,
    /// `/token` and `/register`, where PKCE is sent but cannot be verified.
    AssumeOrigin,
    /// Fail, as the revisions since 2025-06-18 demand.
    Refuse,
}
