//! Enters a retry in the ledger of rounds, so that it is answered once.

use ring::digest::{Context, SHA256};
use sterna_runner::state::FlowRound;
use sterna_runner::{EnteredRound, RoundError, RoundLease};
use sterna_seal::OpenError;

use super::state::{refused, take_up};
use super::{Round, flow, low_level};
use crate::failure::Failure;
use crate::handler::HandlerKind;
use crate::middleware::{RoundEnd, RoundGuard};
use crate::tasks::store_failed;

/// A round whose state is opened and whose answers are well-formed, so that
/// only its handler can refuse it.
pub(crate) struct PreparedRound {
    pub(super) flow_round: Option<FlowRound>,
    pub(super) watched: Option<RoundGuard>,
}

impl Round {
    /// Returns `true` if the round is entered in the ledger: it is a retry, and
    /// the server or its tool wants it to be answered once.
    pub(crate) fn is_remembered(&self) -> bool {
        let can_be = self.core.tasks.is_some() && self.state.is_some();
        can_be && (self.core.remembers_rounds || self.is_single_use())
    }

    /// Enters the round in the ledger.
    ///
    /// A state that is not accepted, answers that are malformed and a hook that
    /// refuses come before that: the client may still send the right retry.
    ///
    /// # Errors
    ///
    /// It was refused, or was entered with other answers, or was answered and
    /// its tool may be used once only.
    pub(crate) async fn enter<T>(&mut self, way: &HandlerKind<T>) -> Result<EnteredRound, Failure> {
        let watched = self.watch();
        let (retry, flow_round) = match take_up(self).await {
            Ok(flow_round) => (self.claim(way, &flow_round).await, Some(flow_round)),
            Err(failure) => (Err(failure), None),
        };
        match &retry {
            Ok(EnteredRound::Leased(_)) => {
                let prepared = PreparedRound {
                    flow_round,
                    watched: Some(watched),
                };
                self.entered = Some(Box::new(prepared));
            }
            Ok(EnteredRound::Answered(_)) => watched.end(RoundEnd::Finished),
            Err(_) => watched.end(RoundEnd::Failed),
        }
        retry
    }

    async fn claim<T>(
        &self,
        way: &HandlerKind<T>,
        flow_round: &FlowRound,
    ) -> Result<EnteredRound, Failure> {
        let (Some(tasks), Some(state)) = (&self.core.tasks, &self.state) else {
            return Err(Failure::Internal);
        };
        let is_single_use = self.is_single_use();
        match way {
            HandlerKind::Flow(_) => flow::check(self, flow_round)?,
            HandlerKind::Backend | HandlerKind::LowLevel(_) => low_level::check(self, flow_round)?,
        }
        let digest = self.digest(state.as_str());
        let lifetime = self.target.lifetimes.flow;
        let entered = RoundLease::enter(
            &tasks.store,
            flow_round.flow(),
            flow_round.number(),
            digest,
            lifetime,
        );
        match entered.await.map_err(round_failed)? {
            EnteredRound::Answered(_) if is_single_use => {
                Err(refused(&self.core, OpenError::Unreadable))
            }
            entered => Ok(entered),
        }
    }

    fn is_single_use(&self) -> bool {
        let tool = self.core.offers.tools.get(&self.target.name);
        self.target.method == "tools/call" && tool.is_some_and(|tool| tool.is_single_use)
    }

    /// Returns the digest of the state and the answers. Two retries with the same
    /// one are the same retry.
    fn digest(&self, state: &str) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        let mut add = |text: &str| {
            context.update(&(text.len() as u64).to_be_bytes());
            context.update(text.as_bytes());
        };
        add(state);
        let mut answers: Vec<_> = self.responses.iter().flat_map(|all| all.iter()).collect();
        answers.sort_by_key(|(key, _)| *key);
        for (key, answer) in answers {
            add(key);
            add(answer.as_str());
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(context.finish().as_ref());
        digest
    }
}

/// Logs that a round could not be entered or left, and returns its failure.
pub(crate) fn round_failed(error: RoundError) -> Failure {
    match error {
        RoundError::NoEntropy(_) => Failure::Internal,
        RoundError::OtherAnswers => {
            tracing::info!(target: "sterna::rounds", "a round was retried with other answers");
            Failure::State
        }
        RoundError::Store(error) => store_failed(&error),
    }
}
