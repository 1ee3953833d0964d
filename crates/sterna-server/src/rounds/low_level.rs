//! A round of a low-level handler, which returns its questions itself.

use std::sync::Arc;

use sterna_protocol::input::{InputRequest, InputRequired, InputResponses};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::result::Outcome;
use sterna_runner::state::{FlowRound, HandlerState, StatePayload};
use sterna_runner::{Admit, Gate, HandlerErrors, ask_all, run_low_level};
use sterna_seal::OpenError;

use super::gate::Lacking;
use super::returning::{Retry, ReturnsQuestions};
use super::state::{self, refused, take_up};
use super::{Played, Round, asking, charge};
use crate::failure::Failure;
use crate::middleware;
use crate::wording;

pub(super) async fn play<T: Send + 'static>(
    mut round: Box<Round>,
    handler: &(impl ReturnsQuestions<T> + ?Sized),
) -> Result<Played<T>, Failure> {
    let flow_round = take_up(&mut round).await?;
    let responses = round.responses.take().unwrap_or_default();
    let (answers, state) = read(&round, &flow_round, &responses)?;
    let retry = Retry {
        answers,
        state,
        turn: flow_round.number(),
    };
    let start = || handler.start(&round, retry);
    match run_low_level(&*round, start).await? {
        Outcome::InputRequired(required) => {
            let (all, target) = (&round.core.middleware, round.target.parts());
            let required = middleware::questions(all, &round.request, target, required)?;
            let mut gate = RoundTripGate {
                round: &round,
                lacking: Lacking::default(),
            };
            ask_all(&mut gate, required.requests().iter())?;
            suspend(&round, &flow_round, required).await
        }
        Outcome::Complete(result) => Ok(Outcome::Complete(result)),
        Outcome::Extension(none) => match none {},
    }
}

/// Checks that the round can be served: its state is one of a low-level handler,
/// and its answers are well-formed.
pub(super) fn check(round: &Round, flow_round: &FlowRound) -> Result<(), Failure> {
    match &round.responses {
        None => read(round, flow_round, &InputResponses::default()).map(drop),
        Some(responses) => read(round, flow_round, responses).map(drop),
    }
}

/// Returns the answers of the client and the state of the author.
fn read(
    round: &Round,
    flow_round: &FlowRound,
    responses: &InputResponses,
) -> Result<(JsonObject, Option<Arc<str>>), Failure> {
    let Some(payload) = state::payload(round, flow_round)? else {
        return Ok((all(responses), None));
    };
    match payload.handler {
        HandlerState::LowLevel { asked, state } => {
            // MRTR-S14: answers to questions that were not asked are ignored.
            let asked = |key: &str| asked.iter().any(|asked| asked == key);
            let answers = only(responses, asked)
                .map(|answer| answer.map(|(key, answer)| (key, answer.clone())));
            Ok((answers.collect::<Result<_, _>>()?, Some(Arc::from(&*state))))
        }
        HandlerState::Journal(_) => Err(refused(&round.core, OpenError::Unreadable)),
    }
}

/// Lets questions through that the response of the round carries.
struct RoundTripGate<'a> {
    round: &'a Round,
    lacking: Lacking,
}

impl<'q> Gate<Returned<'q>> for RoundTripGate<'_> {
    type Question = &'q InputRequest;
    type Error = Failure;

    fn admit(&mut self, asked: &Returned<'q>) -> Result<Admit<&'q InputRequest>, Failure> {
        let Round { core, request, .. } = self.round;
        self.lacking.admit_returned(core, request, asked.1)
    }

    fn lacking(&mut self) -> Option<Failure> {
        self.lacking.failure()
    }

    fn charge(&mut self, questions: usize) -> Result<(), Failure> {
        charge(self.round, questions)
    }

    fn send(&mut self, _: &Returned<'q>, _: &'q InputRequest) -> Result<(), Failure> {
        Ok(())
    }
}

/// Question that a low-level handler has returned, and its key.
pub(super) type Returned<'q> = (&'q str, &'q InputRequest);

/// Ends the round with the questions and the sealed state of the author.
async fn suspend<T>(
    round: &Round,
    flow_round: &FlowRound,
    required: InputRequired,
) -> Result<Played<T>, Failure> {
    if flow_round.number() >= round.core.max_rounds {
        return Err(Failure::Rounds);
    }
    let Some(state) = required.state().cloned() else {
        return Ok(asking(required));
    };
    let asked = required.requests().iter();
    let payload = StatePayload {
        build: round.core.build,
        sheds: 0,
        trace: state::trace(round, flow_round),
        handler: HandlerState::LowLevel {
            asked: asked.map(|(key, _)| key.into()).collect(),
            state: state.as_str().into(),
        },
    };
    let sealed = state::seal(round, flow_round, &payload, &Vec::new)?.await?;
    Ok(asking(required.with_state(sealed)))
}

/// Returns the answers to questions that were asked.
///
/// Every answer is an object; anything else is malformed (MRTR-S13).
pub(super) fn only(
    responses: &InputResponses,
    asked: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Result<(&str, &RawJson), Failure>> {
    let answers = responses.iter().filter(move |(key, _)| asked(key));
    answers.map(|(key, answer)| match answer.is_object() {
        true => Ok((key, answer)),
        false => Err(Failure::params(format!(
            "{} in `inputResponses` must be an object",
            wording::name(key)
        ))),
    })
}

fn all(responses: &InputResponses) -> JsonObject {
    let answers = responses.iter();
    answers.map(|(key, answer)| (key, answer.clone())).collect()
}

impl HandlerErrors for Round {
    type Error = Failure;

    fn misuse(&self) -> Option<Failure> {
        Self::misuse(self)
    }

    fn panicked(&self, message: &str) -> Failure {
        tracing::error!(target: "sterna::rounds", name = self.shown(), "MR0100: the handler panicked: {message}");
        self.core
            .mistaken(format_args!("MR0100: the handler panicked: {message}"))
    }
}
