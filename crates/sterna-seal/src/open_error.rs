//! Reasons to refuse a token.

use sterna_types::UnixMillis;

use crate::key::KeyId;
use crate::v1::UnknownHeader;

/// Reason to refuse a token. For the log, never for the peer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The spilled payload is not the one this token was sealed with.
    #[error("the spilled state was altered")]
    BlobAltered,
    /// The spilled payload is no longer in the store.
    #[error("the spilled state is gone")]
    BlobGone,
    /// The client took too long for this round.
    #[error("the round ended at {0}")]
    Expired(UnixMillis),
    /// The flow as a whole took too long.
    #[error("the flow ended at {0}")]
    FlowExpired(UnixMillis),
    /// It is not a token at all, or not in its canonical spelling.
    #[error("not a token in its canonical spelling")]
    Malformed,
    /// It claims to be issued more than a minute from now: a clock is wrong.
    #[error("issued in the future, at {0}")]
    NotYetIssued(UnixMillis),
    /// It was sealed for other arguments.
    #[error("sealed for other arguments")]
    OtherArguments,
    /// It was sealed for another caller, or for an anonymous one.
    #[error("sealed for another principal")]
    OtherPrincipal,
    /// It was sealed for another method or another tool.
    #[error("sealed for another target")]
    OtherTarget,
    /// Its key is past its retirement.
    #[error("sealed with key {0}, which is retired")]
    RetiredKey(KeyId),
    /// It is longer than any token we seal.
    #[error("{0} characters are too long for a token")]
    TooLong(usize),
    /// It was altered, or sealed for another audience or tenant.
    #[error("altered, or sealed for another audience or tenant")]
    Unauthentic,
    /// Its key is not in this ring. Many of these: a replica has other keys.
    #[error("sealed with key {0}, which is not in the ring")]
    UnknownKey(KeyId),
    /// Its cipher is not known to this build.
    #[error("sealed with suite {0}, which this build does not know")]
    UnknownSuite(u8),
    /// Its layout is not known to this build.
    #[error("a token of version {0}, which this build does not know")]
    UnknownVersion(u8),
    /// It is authentic, but this build cannot read what is inside.
    #[error("authentic, but not readable by this build")]
    Unreadable,
}

impl OpenError {
    /// The whole text that a peer is told, for every reason.
    pub const WIRE_MESSAGE: &str = "Invalid or expired requestState";

    /// The machine-readable form of [`WIRE_MESSAGE`](Self::WIRE_MESSAGE).
    pub const WIRE_REASON: &str = "invalid_request_state";

    /// A fixed word for this reason, for log fields and metric labels.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::BlobAltered => "blob_altered",
            Self::BlobGone => "blob_gone",
            Self::Expired(_) => "expired",
            Self::FlowExpired(_) => "flow_expired",
            Self::Malformed => "malformed",
            Self::NotYetIssued(_) => "not_yet_issued",
            Self::OtherArguments => "other_arguments",
            Self::OtherPrincipal => "other_principal",
            Self::OtherTarget => "other_target",
            Self::RetiredKey(_) => "retired_key",
            Self::TooLong(_) => "too_long",
            Self::Unauthentic => "unauthentic",
            Self::UnknownKey(_) => "unknown_key",
            Self::UnknownSuite(_) => "unknown_suite",
            Self::UnknownVersion(_) => "unknown_version",
            Self::Unreadable => "unreadable",
        }
    }
}

impl From<UnknownHeader> for OpenError {
    fn from(header: UnknownHeader) -> Self {
        match header {
            UnknownHeader::Short => Self::Malformed,
            UnknownHeader::Suite(suite) => Self::UnknownSuite(suite),
            UnknownHeader::Version(version) => Self::UnknownVersion(version),
        }
    }
}
