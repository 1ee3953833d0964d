//! Replicas of a gateway that share a store. Answers to a held call that reach
//! another replica than its holder travel through the store, and so does what came
//! of them.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use sterna_protocol::input::{InputRequired, InputResponses};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::jsonrpc::ErrorObject;
use sterna_protocol::result::Outcome;
use sterna_runner::effects::random_bytes;
use sterna_runner::tasks::jitter;
use sterna_server::RequestError;
use sterna_store::{
    Backoff, BlobId, Claimant, Effect, EffectClaim, Error, FlowId, Mailbox, Name, Store,
};

use super::fence::{self, Asking, Next, Seen};
use super::{RoutedCall, UpstreamCall};
use crate::failure::Reason;

/// Replicas that share a store, seen from one of them. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Fleet {
    store: Arc<dyn Store>,
    /// This replica, in the claims of held calls.
    replica: Claimant,
    /// Time for which messages are kept.
    kept: Duration,
}

/// Message about a held call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FleetMessage {
    /// Answers of the client.
    Answers,
    /// The holder is at work, for this number of beats.
    Beat(u32),
    /// Result, questions or error.
    Outcome,
}

/// Outcome of answers, as it is stored.
#[derive(Serialize, Deserialize)]
enum StoredOutcome {
    #[serde(rename = "asked")]
    Asked(RawJson),
    #[serde(rename = "done")]
    Done(RawJson),
    #[serde(rename = "failed")]
    Failed(ErrorObject),
}

impl Fleet {
    /// Creates the fleet of those that share `store`; `None` if the machine has no
    /// randomness.
    pub(crate) fn new(store: Arc<dyn Store>, held_for: Duration) -> Option<Self> {
        Some(Self {
            store,
            replica: Claimant::from_bytes(random_bytes().ok()?),
            kept: held_for.max(SHORTEST_KEPT),
        })
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Makes the id of a held call from random bits.
    pub(super) fn place(&self, id: FlowId) -> FlowId {
        self.store.place_flow(id)
    }

    /// Claims the right to give answers to the server, which no other replica can
    /// have then. After `false` the holder may not answer: it drops the call.
    pub(super) async fn claim_to_answer(&self, id: FlowId) -> bool {
        for _ in 0..CLAIMS {
            match self.claim(id).await {
                Ok(is_granted) => return is_granted,
                Err(error) => failed(&error),
            }
            tokio::time::sleep(CLAIM_PAUSE).await;
        }
        false
    }

    async fn claim(&self, id: FlowId) -> Result<bool, Error> {
        let key = Name::new("answer").expect("a short name");
        let claim = EffectClaim::new(self.replica, CLAIMED);
        let claimed = self.store.claim_once(Effect::new(id, key), claim).await?;
        Ok(fence::is_granted(&claimed))
    }

    /// Waits for answers that reached another replica.
    pub(super) async fn answers(&self, id: FlowId) -> InputResponses {
        let backoff = Backoff::new(Duration::from_millis(100), LISTENING);
        let bytes = self.collect(id, FleetMessage::Answers, backoff).await;
        match read::<JsonObject>(&bytes) {
            Some(answers) => InputResponses::from(answers),
            // Another release wrote it, which holds its calls itself.
            None => std::future::pending().await,
        }
    }

    /// Does the work on answers for which this replica has the claim: tells the others
    /// that it is being done, and what came of it.
    pub(super) async fn work<T: UpstreamCall>(
        &self,
        id: FlowId,
        work: impl Future<Output = Result<Outcome<T>, RequestError>>,
    ) -> Result<Outcome<T>, RequestError> {
        let mut work = pin!(work);
        let mut beats = 0_u32;
        let outcome = loop {
            let beat = async {
                self.post(id, FleetMessage::Beat(beats), write(&beats))
                    .await;
                tokio::time::sleep(BEAT).await;
            };
            tokio::select! {
                biased;
                outcome = &mut work => break outcome,
                () = beat => beats = beats.saturating_add(1),
            }
        };
        if let Some(stored) = StoredOutcome::of(&outcome) {
            self.post(id, FleetMessage::Outcome, write(&stored)).await;
        }
        outcome
    }

    /// Has the replica that holds a call give the answers to the server, and returns
    /// what came of it; an error is the reason that the call is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the holder goes on: the same retry finds the same outcome.
    pub(super) async fn ask<T: UpstreamCall>(
        &self,
        routed: &RoutedCall,
        id: FlowId,
    ) -> Result<Result<Outcome<T>, RequestError>, Reason> {
        let store_failed = |error: Error| {
            failed(&error);
            Ok(Err(routed.failed(Reason::StoreUnavailable)))
        };
        let answers = self.mailbox(id, FleetMessage::Answers);
        let posted = answers.post(write(routed.call.answers()), self.kept).await;
        if let Err(error) = posted {
            return store_failed(error);
        }
        let quick = || Backoff::new(Duration::from_millis(10), Duration::from_millis(500));
        let mut outcome = pin!(self.collect(id, FleetMessage::Outcome, quick()));
        let (mut asking, mut beats) = (Asking::Posted, 0);
        loop {
            let mut stored = None;
            let patience = match asking {
                Asking::Posted => TAKEN,
                Asking::Claiming | Asking::Following => SILENCE,
            };
            let seen = match asking {
                Asking::Claiming => match self.claim(id).await {
                    Ok(is_granted) => Seen::Claimed(is_granted),
                    Err(error) => return store_failed(error),
                },
                Asking::Following | Asking::Posted => tokio::select! {
                    biased;
                    bytes = &mut outcome => {
                        stored = read::<StoredOutcome>(&bytes);
                        Seen::Outcome
                    }
                    _ = self.collect(id, FleetMessage::Beat(beats), quick()) => {
                        beats += 1;
                        Seen::Alive
                    }
                    () = tokio::time::sleep(patience) => Seen::Silence,
                },
            };
            asking = match asking.after(seen) {
                Next::Be(next) => next,
                Next::Deliver => {
                    let read = stored.and_then(StoredOutcome::into_outcome);
                    return read.ok_or(Reason::HeldCallGone);
                }
                Next::RefuseUnanswered => return Err(Reason::HeldCallUnanswered),
                Next::RefuseUnknown => return Err(Reason::HeldCallGone),
            };
        }
    }

    /// Waits for a message.
    async fn collect(&self, id: FlowId, message: FleetMessage, mut backoff: Backoff) -> Bytes {
        let mailbox = self.mailbox(id, message);
        loop {
            match mailbox.collect(&mut backoff, jitter).await {
                Ok(bytes) => return bytes,
                Err(error) => failed(&error),
            }
        }
    }

    /// Leaves a message that others can do without.
    async fn post(&self, id: FlowId, message: FleetMessage, bytes: Bytes) {
        let posted = self.mailbox(id, message).post(bytes, self.kept).await;
        if let Err(error) = posted {
            failed(&error);
        }
    }

    fn mailbox(&self, id: FlowId, message: FleetMessage) -> Mailbox {
        let (kind, number) = match message {
            FleetMessage::Answers => (b'a', 0),
            FleetMessage::Beat(number) => (b'b', number),
            FleetMessage::Outcome => (b'o', 0),
        };
        let mut context = Context::new(&SHA256);
        context.update(b"a held call of a gateway\n");
        context.update(id.as_bytes());
        context.update(&[kind]);
        context.update(&number.to_be_bytes());
        let mut address = [0; 16];
        address.copy_from_slice(&context.finish().as_ref()[..16]);
        Mailbox::new(Arc::clone(&self.store), BlobId::from_bytes(address))
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

impl StoredOutcome {
    fn of<T: UpstreamCall>(outcome: &Result<Outcome<T>, RequestError>) -> Option<Self> {
        match outcome {
            Ok(Outcome::Complete(result)) => RawJson::of(result).ok().map(Self::Done),
            Ok(Outcome::InputRequired(asked)) => RawJson::of(asked).ok().map(Self::Asked),
            Ok(Outcome::Extension(none)) => match *none {},
            Err(error) => Some(Self::Failed(error.as_object().clone())),
        }
    }

    fn into_outcome<T: UpstreamCall>(self) -> Option<Result<Outcome<T>, RequestError>> {
        match self {
            Self::Asked(asked) => {
                let asked: InputRequired = asked.decode().ok()?;
                Some(Ok(Outcome::InputRequired(asked)))
            }
            Self::Done(result) => Some(Ok(Outcome::Complete(result.decode().ok()?))),
            Self::Failed(error) => Some(Err(RequestError::of(error))),
        }
    }
}

fn write(value: &impl Serialize) -> Bytes {
    let mut bytes = vec![VERSION];
    serde_json::to_writer(&mut bytes, value).expect("wire types have string keys only");
    bytes.into()
}

/// Reads what a release of this version wrote; `None` if another one did.
fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Option<T> {
    let (&[VERSION], text) = bytes.split_first_chunk()? else {
        return None;
    };
    serde_json::from_slice(text).ok()
}

fn failed(error: &Error) {
    tracing::warn!(target: "sterna::gateway", %error, "the store of held calls failed");
}

const VERSION: u8 = b'1';

/// Time in which the holder takes answers that were posted. After that it is taken
/// for dead, and the fence decides.
const TAKEN: Duration = Duration::from_secs(3);

/// Time between two signs of a holder that is at work.
const BEAT: Duration = Duration::from_secs(2);

/// Time after which a holder that was at work is taken for dead.
const SILENCE: Duration = Duration::from_secs(10);

/// Longest pause between two looks for answers, well below [`TAKEN`].
const LISTENING: Duration = Duration::from_secs(1);

/// Time for which a claim is kept: longer than any state is accepted, so that answers
/// which were refused can never be given later.
const CLAIMED: Duration = Duration::from_secs(8 * 24 * 3600);

/// Shortest time for which messages are kept, for retries whose response was lost.
const SHORTEST_KEPT: Duration = Duration::from_secs(600);

/// Attempts of a holder to claim while the store does not answer.
const CLAIMS: u32 = 4;
const CLAIM_PAUSE: Duration = Duration::from_millis(500);
