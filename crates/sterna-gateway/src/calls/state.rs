//! State of a call between two rounds. The server seals it, binds it to the
//! caller and to the request, and the client carries it.

use std::fmt;

use serde::{Deserialize, Serialize};
use sterna_protocol::json::RawJson;

use super::record::AnswerRecord;

/// State as it is written, version 1.
#[derive(Serialize, Deserialize)]
pub(super) struct RouteState {
    #[serde(rename = "v")]
    version: u32,
    /// Name of the server.
    #[serde(rename = "s")]
    server: String,
    #[serde(rename = "p")]
    pub(super) position: Position,
    /// Answers so far, of a call that may be sent anew.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<AnswerRecord>,
}

/// Place where a call goes on.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Position {
    /// Before its beginning: the server had the client asked first.
    #[serde(rename = "b")]
    Begin,
    /// At the server, paused in a session: a paused call as the client library
    /// writes it, without its arguments.
    #[serde(rename = "c")]
    Carried(RawJson),
    /// In this process, where the call is held under an id.
    #[serde(rename = "h")]
    Held(String),
    /// At the server, which gets its state back byte for byte.
    #[serde(rename = "u")]
    Upstream(Option<String>),
}

impl RouteState {
    pub(super) fn write(server: &str, position: Position, record: Option<AnswerRecord>) -> String {
        let state = Self {
            version: 1,
            server: server.to_owned(),
            position,
            record,
        };
        serde_json::to_string(&state).expect("it has string keys only")
    }

    /// Reads the state of a call of `server`; `None` if it is of another one.
    pub(super) fn read(text: &str, server: &str) -> Option<Self> {
        let state: Self = serde_json::from_str(text).ok()?;
        (state.version == 1 && state.server == server).then_some(state)
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The id of a session is a secret between the gateway and the server.
        f.write_str(match self {
            Self::Begin => "Begin",
            Self::Carried(_) => "Carried",
            Self::Held(_) => "Held",
            Self::Upstream(_) => "Upstream",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was_for_its_own_server_only() {
        let odd = "\u{0}\"\\ä\u{1f600}".to_owned();
        let carried = RawJson::parse(r#"{"event":"e1"}"#).unwrap();
        for position in [
            Position::Begin,
            Position::Carried(carried),
            Position::Held("0.1".to_owned()),
            Position::Upstream(None),
            Position::Upstream(Some(odd)),
        ] {
            let text = RouteState::write("billing", position.clone(), None);
            let read = RouteState::read(&text, "billing").unwrap();
            assert_eq!((read.position, read.record), (position, None));
            assert!(RouteState::read(&text, "tickets").is_none());
        }
        assert_eq!(
            RouteState::write("b", Position::Upstream(Some("x".to_owned())), None),
            r#"{"v":1,"s":"b","p":{"u":"x"}}"#
        );
    }
}
