//! State of a call between two rounds. The server seals it, binds it to the
//! caller and to the request, and the client carries it.

use serde::{Deserialize, Serialize};

/// State as it is written, version 1.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RouteState {
    #[serde(rename = "v")]
    version: u32,
    /// Name of the server.
    #[serde(rename = "s")]
    server: String,
    #[serde(rename = "p")]
    position: Position,
}

/// Place where a call goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Position {
    /// In this process, where the call is held under an id.
    #[serde(rename = "h")]
    Held(String),
    /// At the server, which gets its state back byte for byte.
    #[serde(rename = "u")]
    Upstream(Option<String>),
}

impl RouteState {
    pub(super) fn write(server: &str, position: Position) -> String {
        let state = Self {
            version: 1,
            server: server.to_owned(),
            position,
        };
        serde_json::to_string(&state).expect("it has string keys only")
    }

    /// Reads the state of a call of `server`; `None` if it is of another one.
    pub(super) fn read(text: &str, server: &str) -> Option<Position> {
        let state: Self = serde_json::from_str(text).ok()?;
        (state.version == 1 && state.server == server).then_some(state.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was_for_its_own_server_only() {
        let odd = "\u{0}\"\\ä\u{1f600}".to_owned();
        for position in [
            Position::Held("0.1".to_owned()),
            Position::Upstream(None),
            Position::Upstream(Some(odd)),
        ] {
            let text = RouteState::write("billing", position.clone());
            assert_eq!(RouteState::read(&text, "billing"), Some(position));
            assert_eq!(RouteState::read(&text, "tickets"), None);
        }
        assert_eq!(
            RouteState::write("b", Position::Upstream(Some("x".to_owned()))),
            r#"{"v":1,"s":"b","p":{"u":"x"}}"#
        );
    }
}
