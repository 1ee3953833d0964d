//! Every way in which authorization can fail, each with its remedy.

use thiserror::Error;

use super::ErrorKind;

/// Error of a store, a user agent or an assertion source.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One failure, without the step at which it happened.
///
/// Text in it that a peer has chosen went through [`printable`].
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error("the user's browser step did not finish")]
    Agent(#[source] BoxError),
    #[error("no assertion could be obtained")]
    Assertion(#[source] BoxError),
    #[error("the issued token has characters that a header cannot carry")]
    BadToken,
    #[error("the answer lists `{0}` twice")]
    Duplicate(&'static str),
    #[error("the token is not bound to our key, although that was asked for")]
    DpopDowngrade,
    #[error(
        "the server wants DPoP tokens, which the authorization server does not issue for ES256"
    )]
    DpopUnsupported,
    #[error("the server asks for a new DPoP nonce every time")]
    EndlessNonces,
    #[error("{limit} authorizations for one request did not satisfy the server")]
    Exhausted { limit: u32 },
    #[error("`{name}` is not {expected}")]
    Field {
        name: &'static str,
        expected: &'static str,
    },
    #[error("the browser came back to another address than the redirect URI")]
    ForeignRedirect,
    #[error("the server refuses the token that its authorization server has just issued")]
    FreshTokenRejected,
    #[error("the redirect names the issuer {found}, expected {expected}")]
    IssMismatch { expected: String, found: String },
    #[error("the redirect does not name its issuer, although {expected} always does")]
    IssMissing { expected: String },
    #[error("the document of {expected} says that its issuer is {found}")]
    IssuerMismatch { expected: String, found: String },
    #[error("the private key cannot be used: {0}")]
    Key(&'static str),
    #[error("the server knows none of the key's algorithms, only {offered}")]
    KeyAlgorithm { offered: String },
    #[error("a token request was interrupted")]
    Lost,
    #[error("the server has issued no secret for the method {method}")]
    MissingSecret { method: &'static str },
    #[error(
        "this client cannot identify itself: register it, or give it a metadata document, at {issuer}"
    )]
    NoClient { issuer: String },
    #[error("a token is to be exchanged, and no issuer is named that may read it")]
    NoIssuer,
    #[error("the redirect carries neither a code nor an error")]
    NoCode,
    #[error("the operating system gives no randomness")]
    NoRandomness,
    #[error("there is no protected resource metadata")]
    NoResourceMetadata,
    #[error("{issuer} publishes no metadata")]
    NoServerMetadata { issuer: String },
    #[error("none of the methods {offered} can be used to authenticate this client")]
    NoMethod { offered: String },
    #[error("the answer is not a JSON object")]
    NotJson,
    #[error("the client is registered with {registered}, but the server trusts {named}")]
    OtherIssuer { registered: String, named: String },
    #[error("{uri} is not part of the resource the token is for")]
    OtherResource { uri: String },
    #[error("{issuer} does not support PKCE with S256")]
    PkceUnsupported { issuer: String },
    #[error("the redirect URI `{uri}` is neither https nor on this machine")]
    RedirectUri { uri: String },
    #[error("the answer redirects to {to}")]
    Redirected { to: String },
    #[error("the authorization server refused: {code}{}", .description.as_ref().map(|d| format!(" ({d})")).unwrap_or_default())]
    Refused {
        code: String,
        description: Option<String>,
    },
    #[error("the metadata is for {resource}, not for {server}")]
    ResourceMismatch { server: String, resource: String },
    #[error("the server still wants the scope `{scopes}`, which was asked for before")]
    ScopeNotGranted { scopes: String },
    #[error("the server requires another scope and does not name it")]
    ScopeNotNamed,
    #[error("the redirect does not belong to this authorization (`state` differs)")]
    StateMismatch,
    #[error("unexpected HTTP status {0}")]
    Status(u16),
    #[error("the credential store failed")]
    Store(#[source] BoxError),
    #[error("TLS cannot be set up")]
    Tls(#[source] BoxError),
    #[error("the answer is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("a token of the type `{found}` was issued")]
    TokenType { found: String },
    #[error("{host} cannot be reached")]
    Unreachable {
        host: String,
        #[source]
        source: BoxError,
    },
    #[error("{what} `{url}` {why}")]
    Url {
        what: &'static str,
        url: String,
        why: &'static str,
    },
    #[error("the user did not finish in time")]
    UserTimeout,
}

impl Fault {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Agent(_)
            | Self::Refused { .. }
            | Self::ScopeNotGranted { .. }
            | Self::UserTimeout => ErrorKind::Denied,
            Self::Lost | Self::NoRandomness | Self::Store(_) | Self::Tls(_) => ErrorKind::Internal,
            Self::Assertion(_)
            | Self::Key(_)
            | Self::KeyAlgorithm { .. }
            | Self::NoClient { .. }
            | Self::NoIssuer
            | Self::OtherIssuer { .. }
            | Self::OtherResource { .. }
            | Self::RedirectUri { .. } => ErrorKind::Misuse,
            Self::Status(status) if *status == 429 || *status >= 500 => ErrorKind::Unavailable,
            Self::Unreachable { .. } => ErrorKind::Unavailable,
            Self::BadToken
            | Self::Duplicate(_)
            | Self::DpopDowngrade
            | Self::DpopUnsupported
            | Self::EndlessNonces
            | Self::Exhausted { .. }
            | Self::Field { .. }
            | Self::ForeignRedirect
            | Self::FreshTokenRejected
            | Self::IssMismatch { .. }
            | Self::IssMissing { .. }
            | Self::IssuerMismatch { .. }
            | Self::MissingSecret { .. }
            | Self::NoCode
            | Self::NoMethod { .. }
            | Self::NoResourceMetadata
            | Self::NoServerMetadata { .. }
            | Self::NotJson
            | Self::PkceUnsupported { .. }
            | Self::Redirected { .. }
            | Self::ResourceMismatch { .. }
            | Self::ScopeNotNamed
            | Self::StateMismatch
            | Self::Status(_)
            | Self::TokenType { .. }
            | Self::TooLarge { .. }
            | Self::Url { .. } => ErrorKind::Peer,
        }
    }

    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Self::Agent(_) => "try again and finish the sign-in in the browser",
            Self::Assertion(_) => "check the source of assertions that was configured",
            Self::Key(_) => "give an unencrypted PKCS#8 key in PEM: P-256, P-384, Ed25519 or RSA",
            Self::KeyAlgorithm { .. } => "register a key of an algorithm that the server knows",
            Self::Lost => "try again",
            Self::NoClient { .. } => {
                "configure a registration for this issuer, a metadata document or dynamic registration"
            }
            Self::NoIssuer => "name the authorization server with `Builder::issuer`",
            Self::NoRandomness => "check the system's random number generator",
            Self::NoResourceMetadata => {
                "ask the server's operator to publish it (RFC 9728), or allow servers without it in the configuration"
            }
            Self::NoServerMetadata { .. } => {
                "ask its operator to publish it (RFC 8414 or OpenID Connect Discovery)"
            }
            Self::OtherIssuer { .. } => {
                "register with the issuer that the server names, if you trust it, and configure that registration"
            }
            Self::OtherResource { .. } => "send the token to the configured server only",
            Self::PkceUnsupported { .. } => {
                "ask its operator to list S256 in code_challenge_methods_supported"
            }
            Self::RedirectUri { .. } => "configure another redirect URI",
            Self::Refused { .. } => "see the authorization server's message, then try again",
            Self::ScopeNotGranted { .. } => {
                "ask for an account or a grant that has it, then sign in again"
            }
            Self::Status(status) if *status == 429 || *status >= 500 => "try again later",
            Self::Store(_) => "check the credential store that was configured",
            Self::Tls(_) => "install the system's CA certificates",
            Self::Unreachable { .. } => "check the network and try again",
            Self::Url { .. } => {
                "use an https URL; plain http is accepted only on the machine itself"
            }
            Self::UserTimeout => "try again, or allow more time in the configuration",
            Self::BadToken
            | Self::Duplicate(_)
            | Self::DpopDowngrade
            | Self::DpopUnsupported
            | Self::EndlessNonces
            | Self::Exhausted { .. }
            | Self::Field { .. }
            | Self::FreshTokenRejected
            | Self::MissingSecret { .. }
            | Self::NoCode
            | Self::NoMethod { .. }
            | Self::NotJson
            | Self::Redirected { .. }
            | Self::ScopeNotNamed
            | Self::Status(_)
            | Self::TokenType { .. }
            | Self::TooLarge { .. } => "report it to the server's operator",
            Self::ForeignRedirect
            | Self::IssMismatch { .. }
            | Self::IssMissing { .. }
            | Self::IssuerMismatch { .. }
            | Self::ResourceMismatch { .. }
            | Self::StateMismatch => {
                "do not go on: this may be an attack, otherwise the server is set up wrongly"
            }
        }
    }
}
