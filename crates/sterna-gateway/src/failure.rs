//! Failures of upstream calls, and the one place where they become text.

use serde_json::{Map, Value, json};
use sterna_client::{Error, ErrorKind, LostOutcome};
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_server::RequestError;

/// Reason that the gateway itself could not bring a call to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The approval was used for a call already.
    ApprovalUsed,
    /// The server does not have a carried call any more, and has seen no answer of
    /// this round.
    CarriedCallGone,
    /// The server has a carried call no more, or will not say its result, after an
    /// answer of this round.
    CarriedCallLost,
    /// A held call is not here: this gateway was restarted, or its time is over.
    HeldCallGone,
    /// The gateway that held a call is gone, and no gateway can answer it any more.
    HeldCallUnanswered,
    /// A carried call goes on at the server, but its result did not come.
    Interrupted,
    /// The server's answer never came.
    Lost,
    /// The operating system gave no randomness.
    NoRandomness,
    /// The store that approvals are entered in cannot be reached.
    StoreAway,
    /// The store, through which answers reach another gateway, did not take them.
    StoreUnavailable,
    /// The caller has used more approvals than may be remembered.
    TooManyApprovals,
    /// More calls are held than may be.
    TooManyHeld,
    /// The server wants to know who is calling, and the gateway may not say.
    Unauthorized,
    /// There is no connection to the server.
    Unreachable,
    /// The server answered with something that cannot be passed on.
    Unsupported,
}

impl Reason {
    const ALL: [Self; 15] = [
        Self::ApprovalUsed,
        Self::CarriedCallGone,
        Self::CarriedCallLost,
        Self::HeldCallGone,
        Self::HeldCallUnanswered,
        Self::Interrupted,
        Self::Lost,
        Self::NoRandomness,
        Self::StoreAway,
        Self::StoreUnavailable,
        Self::TooManyApprovals,
        Self::TooManyHeld,
        Self::Unauthorized,
        Self::Unreachable,
        Self::Unsupported,
    ];

    fn code(self) -> &'static str {
        match self {
            Self::ApprovalUsed => "MR0920",
            Self::CarriedCallGone | Self::CarriedCallLost => "MR0910",
            Self::HeldCallGone | Self::HeldCallUnanswered => "MR0902",
            Self::Interrupted => "MR0911",
            Self::Lost => "MR0901",
            Self::StoreUnavailable => "MR0912",
            Self::NoRandomness | Self::StoreAway | Self::TooManyApprovals => "MR0921",
            Self::TooManyHeld => "MR0903",
            Self::Unauthorized => "MR0905",
            Self::Unreachable => "MR0900",
            Self::Unsupported => "MR0906",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::ApprovalUsed => "approval_used",
            Self::CarriedCallGone | Self::CarriedCallLost => "carried_call_gone",
            Self::HeldCallGone | Self::HeldCallUnanswered => "held_call_gone",
            Self::Interrupted => "carried_call_interrupted",
            Self::Lost => "upstream_lost",
            Self::StoreUnavailable => "store_unavailable",
            Self::NoRandomness => "no_randomness",
            Self::StoreAway => "store_unavailable",
            Self::TooManyApprovals => "too_many_approvals",
            Self::TooManyHeld => "too_many_held_calls",
            Self::Unauthorized => "upstream_unauthorized",
            Self::Unreachable => "upstream_unreachable",
            Self::Unsupported => "upstream_unsupported",
        }
    }

    /// `none` if the server has certainly done nothing in this round, `unknown` if it
    /// may have.
    fn outcome(self) -> &'static str {
        match self {
            Self::ApprovalUsed
            | Self::CarriedCallGone
            | Self::HeldCallUnanswered
            | Self::NoRandomness
            | Self::StoreAway
            | Self::TooManyApprovals
            | Self::Unauthorized
            | Self::Unreachable => "none",
            Self::CarriedCallLost
            | Self::HeldCallGone
            | Self::Interrupted
            | Self::Lost
            | Self::StoreUnavailable
            | Self::TooManyHeld
            | Self::Unsupported => "unknown",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::ApprovalUsed => {
                "this approval was used for a call already; call again to be asked again"
            }
            Self::CarriedCallGone => {
                "it does not have the call any more that waited for these answers, and got none of \
                 them; call again"
            }
            Self::CarriedCallLost => {
                "it does not have the call any more that waited for these answers, and got some of \
                 them"
            }
            Self::HeldCallGone => {
                "the call that waited for these answers is not here any more; call again"
            }
            Self::HeldCallUnanswered => {
                "the gateway that held the call is gone, and the server got none of the answers; call \
                 again"
            }
            Self::Interrupted => {
                "the call goes on there, but its result has not come; send the same retry again"
            }
            Self::Lost => "the connection was lost before the answer came",
            Self::StoreUnavailable => {
                "the answers cannot reach the gateway that holds the call; send the same retry again"
            }
            Self::NoRandomness | Self::StoreAway => {
                "the approval cannot be noted just now, so the call was not made; try again later"
            }
            Self::TooManyApprovals => {
                "too many approvals were used within an hour, so the call was not made; try again later"
            }
            Self::TooManyHeld => {
                "too many calls wait for answers; answer some of them first, then call again"
            }
            Self::Unauthorized => "the server does not let the gateway in",
            Self::Unreachable => "the server cannot be reached; try again later",
            Self::Unsupported => "the server's answer breaks the protocol",
        }
    }

    /// The error for the client, which names the server.
    pub(crate) fn of(self, server: &str) -> RequestError {
        let (code, text) = (self.code(), self.text());
        let message = format!("upstream `{server}`: {text} ({code})");
        let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
        RequestError::of(error.with_data(json!({
            "server": server,
            "reason": self.label(),
            "outcome": self.outcome(),
        })))
    }
}

/// Reason of an error that the gateway made.
pub(crate) fn reason_of(error: &ErrorObject) -> Option<&'static str> {
    let said = error.data.as_ref()?.get("reason")?.as_str()?;
    // A server may write there what it likes.
    let all = Reason::ALL.iter().map(|reason| reason.label());
    all.into_iter().find(|label| *label == said)
}

/// The failure to open a session with a server.
pub(crate) fn not_connected(error: &Error) -> Reason {
    match error.kind() {
        ErrorKind::Auth => Reason::Unauthorized,
        _ => Reason::Unreachable,
    }
}

/// The error of a call that `server` was sent: its own words as they are, with
/// its name beside them.
pub(crate) fn of_call(server: &str, error: &Error) -> RequestError {
    if let Some(refusal) = error.rpc() {
        return RequestError::of(named(refusal.clone(), server));
    }
    tracing::warn!(target: "sterna::gateway", server, %error, "an upstream call failed");
    match error.kind() {
        ErrorKind::Auth => Reason::Unauthorized.of(server),
        ErrorKind::Peer => Reason::Unsupported.of(server),
        _ => Reason::Lost.of(server),
    }
}

/// The error of a carried call, which may still be at `server`.
pub(crate) fn of_carried(server: &str, error: &Error) -> RequestError {
    let reason = match (error.lost(), error.kind()) {
        // Another address: the configuration was changed.
        (Some(LostOutcome::None), _) | (None, ErrorKind::Misuse) => Reason::CarriedCallGone,
        (Some(_), _) => Reason::CarriedCallLost,
        (None, ErrorKind::Spent | ErrorKind::Unavailable) => Reason::Interrupted,
        (None, _) => return of_call(server, error),
    };
    tracing::warn!(target: "sterna::gateway", server, %error, "a carried call did not end");
    reason.of(server)
}

/// Puts the name of the server into the data of its error, where there is room.
fn named(mut error: ErrorObject, server: &str) -> ErrorObject {
    let data = error.data.get_or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(members) = data {
        members
            .entry("server")
            .or_insert_with(|| Value::from(server));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_server_stay_and_its_name_is_added() {
        let error = |data: Option<Value>| {
            let mut error = ErrorObject::new(ErrorCode(-32055), "asleep");
            error.data = data;
            named(error, "billing").data.unwrap()
        };
        assert_eq!(error(None), json!({"server": "billing"}));
        let own = json!({"reason": "night", "server": "of its own"});
        assert_eq!(error(Some(own.clone())), own);
        assert_eq!(error(Some(json!([1]))), json!([1]));
    }
}
