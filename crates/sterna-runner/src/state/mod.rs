//! The sealed state between two rounds of a flow.
//!
//! No instance keeps anything of a flow between two rounds: the state has all
//! that the flow needs to go on, and any instance with the keys can open it.

mod v1;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use sterna_flow::{Journal, Limits};
use sterna_seal::{
    Binding, Budget, Content, Flow, FlowId, Keyring, Lifetimes, LoadError, OpenError, Part,
    Payload, SealError, SealRequest, Sealed, Spill, ThreadEntropy, UnixMillis,
};

/// Payload of a state, as the rounds of a flow write and read it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "its format is frozen")]
pub struct StatePayload<'a> {
    /// Id of the build that wrote it.
    pub build: [u8; 8],
    /// Number of times in a row that the flow was handed over without a
    /// question.
    pub sheds: u8,
    /// Trace that the client named in the first round, or zeros.
    pub trace: [u8; 16],
    /// State of the handler.
    pub handler: HandlerState<'a>,
}

/// State from which a handler goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its format is frozen")]
pub enum HandlerState<'a> {
    /// Journal of a flow, which has its questions too.
    Journal(Bytes),
    /// State of a low-level handler.
    LowLevel {
        /// Keys of the questions that it asked.
        asked: Vec<Cow<'a, str>>,
        /// State as its author wrote it.
        state: Cow<'a, str>,
    },
}

/// Round of a flow, with the state that it begins with.
pub struct FlowRound {
    /// Binding of the state, if there is one.
    binding: Option<Binding>,
    flow: FlowId,
    number: u32,
    before: Option<Flow>,
    payload: Option<Payload>,
}

/// State that was opened.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a server acts on each of them")]
pub enum OpenedState {
    /// The token had it.
    Inline(FlowRound),
    /// It is in a blob.
    Spilled(SpilledRound),
}

/// Round whose state is in a blob.
pub struct SpilledRound {
    round: FlowRound,
    content: Content,
}

impl SpilledRound {
    /// Fetches the state.
    ///
    /// # Errors
    ///
    /// It cannot be fetched, or is not the one that was sealed.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn load(self, spill: Option<&dyn Spill>) -> Result<FlowRound, LoadError> {
        let Self { mut round, content } = self;
        round.payload = Some(content.load(spill).await?);
        Ok(round)
    }
}

impl FlowRound {
    /// Begins `flow`.
    pub fn first(flow: FlowId) -> Self {
        Self {
            binding: None,
            flow,
            number: 0,
            before: None,
            payload: None,
        }
    }

    /// Opens the state `token`.
    ///
    /// # Errors
    ///
    /// It is no state, or not one for this binding and time.
    pub fn open(
        keys: &Keyring,
        token: &str,
        binding: Binding,
        now: UnixMillis,
    ) -> Result<OpenedState, OpenError> {
        let claims = keys.open(token, &binding, now)?;
        let mut round = Self {
            binding: Some(binding),
            flow: claims.flow.id,
            number: claims.flow.round.into(),
            before: Some(claims.flow),
            payload: None,
        };
        Ok(match claims.content {
            Content::Inline(payload) => {
                round.payload = Some(payload);
                OpenedState::Inline(round)
            }
            content => OpenedState::Spilled(SpilledRound { round, content }),
        })
    }

    /// Returns the id of the flow.
    pub const fn flow(&self) -> FlowId {
        self.flow
    }

    /// Returns the number of the round; 0 is the first.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Returns `true` if there was no state.
    pub const fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// Returns the payload of the state; `None` in the first round.
    ///
    /// # Errors
    ///
    /// No build of this version wrote it.
    pub fn payload(&self) -> Result<Option<StatePayload<'_>>, OpenError> {
        let Some(payload) = &self.payload else {
            return Ok(None);
        };
        v1::read(payload).map(Some).ok_or(OpenError::Unreadable)
    }

    /// Returns the trace in the state; `None` if it names none, or in the first
    /// round.
    pub fn trace(&self) -> Option<[u8; 16]> {
        let payload = self.payload.as_ref()?;
        v1::trace(payload).filter(|trace| *trace != [0; 16])
    }

    /// Seals `request` for the next round.
    ///
    /// `bind` makes the binding of a first state. With `spill`, a state that is
    /// too large to travel becomes a blob.
    ///
    /// # Errors
    ///
    /// `bind` failed.
    pub fn seal<'s, E>(
        &self,
        keys: &Keyring,
        request: &StateRequest<'_>,
        bind: impl FnOnce() -> Result<Binding, E>,
        now: UnixMillis,
        spill: Option<&'s dyn Spill>,
    ) -> Result<Sealing<'s>, E> {
        let first;
        let binding = match &self.binding {
            Some(binding) => binding,
            // Bound here and not before: most rounds end without a state.
            None => {
                first = bind()?;
                &first
            }
        };
        let flow = match self.before {
            Some(before) => before.next_round(),
            None => Flow::begin(self.flow, now),
        };
        let payload = v1::write(request.payload);
        let draft = SealRequest::new(flow, &payload)
            .with_lifetimes(request.lifetimes)
            .with_budget(request.budget)
            .with_parts(request.parts);
        let mut entropy = ThreadEntropy;
        let outcome = match spill {
            None => SealingOutcome::Sealed(keys.seal(&draft, binding, now, &mut entropy)),
            Some(spill) => {
                let spilling = keys.seal_or_spill(&draft, binding, now, &mut entropy, spill);
                SealingOutcome::Spilling(Box::pin(spilling))
            }
        };
        Ok(Sealing {
            payload_bytes: payload.len(),
            outcome,
        })
    }
}

/// State that is to be sealed.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "all of it is needed")]
pub struct StateRequest<'a> {
    /// Payload of the state.
    pub payload: &'a StatePayload<'a>,
    /// Lifetimes of the state and of its flow.
    pub lifetimes: Lifetimes,
    /// Largest size of a state that travels.
    pub budget: Budget,
    /// Sizes of its parts, for the error of a state that is too large.
    pub parts: &'a dyn Fn() -> Vec<Part>,
}

/// State that is being sealed.
pub struct Sealing<'s> {
    payload_bytes: usize,
    outcome: SealingOutcome<'s>,
}

enum SealingOutcome<'s> {
    Sealed(Result<Sealed, SealError>),
    Spilling(std::pin::Pin<Box<dyn Future<Output = Result<Sealed, SealError>> + Send + 's>>),
}

impl Sealing<'_> {
    /// Returns the size of the payload.
    pub const fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    /// Waits until a state that does not travel is in its blob.
    ///
    /// # Errors
    ///
    /// It cannot be sealed.
    ///
    /// # Cancel safety
    ///
    /// A blob that was written and has no token is swept when it expires.
    pub async fn finish(self) -> Result<Sealed, SealError> {
        match self.outcome {
            SealingOutcome::Sealed(sealed) => sealed,
            SealingOutcome::Spilling(spilling) => spilling.await,
        }
    }
}

/// Content of a request state, for tools that show it to an operator. Handlers
/// never need it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SealedState {
    /// Id of the build that sealed it.
    pub build: [u8; 8],
    /// Number of times in a row that the flow was handed over without a
    /// question.
    pub sheds: u8,
    /// Trace that its first round belongs to, or zeros.
    pub trace: [u8; 16],
    /// State of its handler.
    pub content: StateContent,
}

/// State from which a handler goes on, in a [`SealedState`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StateContent {
    /// State of a low-level handler.
    Author {
        /// Keys of the questions that it asked.
        asked: Vec<String>,
        /// State as the handler wrote it.
        state: String,
    },
    /// Journal of a flow: its answers and the results of its steps.
    Journal(Journal),
}

impl SealedState {
    /// Reads the payload of a token; `None` if it is no state, or one of a later
    /// release.
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let payload = v1::read(payload)?;
        let content = match payload.handler {
            HandlerState::Journal(bytes) => {
                StateContent::Journal(Journal::decode(bytes, &Limits::default()).ok()?)
            }
            HandlerState::LowLevel { asked, state } => StateContent::Author {
                asked: asked.into_iter().map(Into::into).collect(),
                state: state.into(),
            },
        };
        Some(Self {
            build: payload.build,
            sheds: payload.sheds,
            trace: payload.trace,
            content,
        })
    }
}

impl fmt::Debug for FlowRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowRound")
            .field("flow", &self.flow)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SpilledRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpilledRound")
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for StateRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateRequest")
            .field("lifetimes", &self.lifetimes)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Sealing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing")
            .field("payload_bytes", &self.payload_bytes)
            .finish_non_exhaustive()
    }
}
