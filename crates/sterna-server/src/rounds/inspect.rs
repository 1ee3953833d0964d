//! What a sealed state holds, for an operator who has opened it.

use sterna_flow::{Journal, Limits};

use super::token::Carried;
use super::v1;

/// What this server keeps in a request state, for tools that show it to an
/// operator. Handlers never need it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SealedState {
    /// Which build of the server sealed it.
    pub build: [u8; 8],
    /// How often in a row the flow was sent away without a question.
    pub sheds: u8,
    /// The trace its first round belongs to, or zeros.
    pub trace: [u8; 16],
    /// What its handler goes on from.
    pub content: StateContent,
}

/// What a handler goes on from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StateContent {
    /// A low-level handler: what it asked for, and its own state.
    Author {
        /// The keys it asked for.
        asked: Vec<String>,
        /// The state as the handler wrote it.
        state: String,
    },
    /// A straight-line handler: everything it was told and did.
    Journal(Journal),
}

impl SealedState {
    /// Reads the payload of a token; `None` if it is not a state of this
    /// server, or one of a later release.
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let kept = v1::read(payload)?;
        let content = match kept.carried {
            Carried::Journal(bytes) => {
                StateContent::Journal(Journal::decode(bytes, &Limits::default()).ok()?)
            }
            Carried::Author { asked, state } => StateContent::Author {
                asked: asked.into_iter().map(Into::into).collect(),
                state: state.into(),
            },
        };
        Some(Self {
            build: kept.build,
            sheds: kept.sheds,
            trace: kept.trace,
            content,
        })
    }
}
