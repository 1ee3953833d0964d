//! Stores with one fault each, to prove that a test notices the fault.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;

use tokio::sync::{Mutex, MutexGuard};

use crate::{
    Answer, Answered, BlobId, BoxFuture, Claim, Claimant, Claimed, Commit, Effect, EffectClaim,
    Error, ErrorKind, Intercept, Lease, Listing, OnceClaim, Outcome, Owner, Page, Passivated,
    Passivation, Round, RoundClaim, RoundEntry, Status, Store, Task, TaskId, TaskUpdate,
};

/// A rule that a store does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A worker that was overtaken is told that its writes arrived.
    BelievesZombies,
    /// A lease outlives its worker by far.
    ClaimsForever,
    /// Every third call that answers is acknowledged and thrown away.
    DropsAnswers,
    /// A lease has a tenth of the length that was asked for.
    EndsLeasesEarly,
    /// The answers that led to an effect are not kept.
    ForgetsAnswersOfEffects,
    /// A task that fails again and again is as good as new each time.
    ForgetsAttempts,
    /// Every third look at a task that has ended shows it at work.
    ForgetsEnds,
    /// A renewal, of a lease or of a round, waits for a commit or a claim that
    /// was begun before, however long its future is not polled.
    HoldsParkedCalls,
    /// Blobs do not expire.
    KeepsBlobsForever,
    /// A list holds tasks of others.
    ListsEverything,
    /// Commits that come at once with one that is refused are acknowledged and
    /// thrown away.
    LosesNeighbours,
    /// Every third call that answers brings an answer that the client did not give.
    MixesAnswersUp,
    /// An effect in doubt may be run by every claimant that asks.
    RunsEffectsTwice,
    /// A round may be answered by every claimant that asks.
    RunsRoundsTwice,
    /// Every caller that knows its id sees a task.
    ShowsForeignTasks,
    /// Every third commit of progress is acknowledged and thrown away.
    SkipsCommits,
    /// A task rests although an answer has come.
    SleepsOnAnswers,
    /// Commits that come at once with one that is refused are refused, too.
    SpoilsNeighbours,
    /// Every fortieth commit takes more than a second.
    StallsCommits,
    /// Answers that were taken are handed out again.
    SwallowsTakenKeys,
    /// A cancelled task completes all the same.
    UncancelsTasks,
}

/// A store that breaks one rule, or none.
///
/// ```
/// use std::sync::Arc;
/// use sterna_store::contract::{Fault, Faulty};
/// use sterna_store::{MemoryLimits, MemoryStore, Store, UnixMillis};
///
/// let good = MemoryStore::with_clock(MemoryLimits::default(), || UnixMillis::new(0));
/// let bad: Arc<dyn Store> = Arc::new(Faulty::new(Arc::new(good), Fault::RunsEffectsTwice));
/// ```
pub struct Faulty {
    store: Arc<dyn Store>,
    fault: Option<Fault>,
    calls: AtomicU32,
    /// `true` after a commit was refused.
    refused: AtomicBool,
    /// Held while a commit or a claim goes on, by a store that has the fault.
    row: Mutex<()>,
}

impl Faulty {
    /// `store` with a fault, or with none.
    pub fn new(store: Arc<dyn Store>, fault: impl Into<Option<Fault>>) -> Self {
        Self {
            store,
            fault: fault.into(),
            calls: AtomicU32::new(0),
            refused: AtomicBool::new(false),
            row: Mutex::default(),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Counts a call; returns whether it is the third one in a store that has
    /// `fault`.
    fn strikes(&self, fault: Fault) -> bool {
        self.has(fault) && self.calls.fetch_add(1, Ordering::Relaxed) % 3 == 2
    }

    /// The owner for which the store takes a caller.
    fn taken_for(&self, caller: Owner) -> Owner {
        if self.has(Fault::ShowsForeignTasks) {
            Owner::from_digest([0xca; 32])
        } else {
            caller
        }
    }

    /// Lifetime of a blob that was given `ttl`.
    fn kept_for(&self, ttl: Duration) -> Duration {
        let factor = if self.has(Fault::KeepsBlobsForever) {
            1000
        } else {
            1
        };
        ttl * factor
    }

    /// Duration of a lease that was asked for with `length`.
    fn granted(&self, length: Duration) -> Duration {
        let divisor = if self.has(Fault::EndsLeasesEarly) {
            10
        } else {
            1
        };
        length / divisor
    }

    /// Holds the row for a moment, in a store that has the fault.
    async fn hold(&self) -> Option<MutexGuard<'_, ()>> {
        if !self.has(Fault::HoldsParkedCalls) {
            return None;
        }
        let row = self.row.lock().await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        Some(row)
    }

    /// Returns whether a commit is thrown away because one beside it was refused.
    fn loses(&self) -> bool {
        self.has(Fault::LosesNeighbours) && self.refused.load(Ordering::Relaxed)
    }

    /// Notes a refusal, and passes it on to commits that came at the same time.
    async fn spoil<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if self.has(Fault::LosesNeighbours) || self.has(Fault::SpoilsNeighbours) {
            if result.is_err() {
                self.refused.store(true, Ordering::Relaxed);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let spoilt = self.has(Fault::SpoilsNeighbours) && self.refused.load(Ordering::Relaxed);
        if spoilt && result.is_ok() {
            let what = "a commit beside this one was refused";
            return Err(Error::new(ErrorKind::Conflict, what));
        }
        result
    }

    /// Turns the refusal of a zombie into a success.
    fn believe<T>(&self, result: Result<T, Error>, success: T) -> Result<T, Error> {
        match result {
            Err(error) if error.kind() == ErrorKind::Fenced && self.has(Fault::BelievesZombies) => {
                Ok(success)
            }
            other => other,
        }
    }
}

impl Intercept for Faulty {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }
    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        Box::pin(async move {
            let mut found = self.store.read(self.taken_for(caller), task).await?;
            if let Some(task) = &mut found
                && task.summary.status.is_final()
                && self.strikes(Fault::ForgetsEnds)
            {
                task.summary.status = Status::Working;
            }
            Ok(found)
        })
    }

    fn list(&self, caller: Owner, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        Box::pin(async move {
            let mut listing = self.store.list(caller, page).await?;
            if self.has(Fault::ListsEverything) {
                let other = Owner::from_digest([0xca; 32]);
                listing
                    .tasks
                    .extend(self.store.list(other, page).await?.tasks);
            }
            Ok(listing)
        })
    }

    fn answer(
        &self,
        caller: Owner,
        task: TaskId,
        mut answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        if self.strikes(Fault::DropsAnswers) {
            let dropped = Answered::new(1, Status::Working);
            return Box::pin(async move { Ok(Some(dropped)) });
        }
        if self.strikes(Fault::MixesAnswersUp) {
            for answer in &mut answers {
                answer.response = Bytes::from_static(br#"{"action":"decline"}"#);
            }
        }
        self.store.answer(caller, task, answers)
    }

    fn claim(&self, mut claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async move {
            if self.has(Fault::ClaimsForever) {
                claim.length *= 1000;
            }
            claim.length = self.granted(claim.length);
            let mut claimed = self.store.claim(claim).await?;
            if self.has(Fault::ForgetsAttempts) {
                for task in &mut claimed {
                    task.attempt = 1;
                }
            }
            Ok(claimed)
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        Box::pin(async move {
            if self.has(Fault::HoldsParkedCalls) {
                drop(self.row.lock().await);
            }
            let news = self.store.renew(lease, self.granted(length)).await;
            self.believe(news, TaskUpdate::new(Status::Working, Vec::new()))
        })
    }

    fn append(&self, lease: Lease, mut commit: Commit) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        if self.strikes(Fault::SkipsCommits) {
            return Box::pin(async { Ok(TaskUpdate::new(Status::Working, Vec::new())) });
        }
        Box::pin(async move {
            if self.loses() {
                return Ok(TaskUpdate::new(Status::Working, Vec::new()));
            }
            let row = self.hold().await;
            if self.has(Fault::StallsCommits)
                && self.calls.fetch_add(1, Ordering::Relaxed) % 40 == 39
            {
                tokio::time::sleep(Duration::from_millis(1500)).await;
            }
            if self.has(Fault::SwallowsTakenKeys) {
                commit.taken.clear();
            }
            let news = self.store.append(lease, commit).await;
            drop(row);
            let news = self.spoil(news).await;
            self.believe(news, TaskUpdate::new(Status::Working, Vec::new()))
        })
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>> {
        Box::pin(async move {
            let rested = self.store.passivate(lease, commit, rest).await;
            let rested = self.believe(rested, Passivated::Parked)?;
            Ok(match rested {
                Passivated::Refused(_) if self.has(Fault::SleepsOnAnswers) => Passivated::Parked,
                other => other,
            })
        })
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        Box::pin(async move {
            let status = self.store.finish(lease, outcome).await;
            let status = self.believe(status, Status::Completed)?;
            Ok(match status {
                Status::Cancelled if self.has(Fault::UncancelsTasks) => Status::Completed,
                other => other,
            })
        })
    }

    fn claim_once(
        &self,
        effect: Effect,
        mut claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        Box::pin(async move {
            if self.has(Fault::ForgetsAnswersOfEffects) {
                claim.answers = Bytes::new();
            }
            let row = self.hold().await;
            let claim = self.store.claim_once(effect, claim).await?;
            drop(row);
            Ok(match claim {
                OnceClaim::Ambiguous { .. } if self.has(Fault::RunsEffectsTwice) => OnceClaim::Won,
                other => other,
            })
        })
    }

    fn settle_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        result: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let settled = self.store.settle_once(effect, claimant, result).await;
            match settled {
                Err(error)
                    if error.kind() == ErrorKind::Fenced && self.has(Fault::RunsEffectsTwice) =>
                {
                    Ok(())
                }
                settled => settled,
            }
        })
    }

    fn enter_round(
        &self,
        round: Round,
        entry: RoundEntry,
    ) -> BoxFuture<'_, Result<RoundClaim, Error>> {
        Box::pin(async move {
            if self.has(Fault::HoldsParkedCalls) {
                drop(self.row.lock().await);
            }
            let entered = self.store.enter_round(round, entry).await?;
            Ok(match entered {
                _ if self.has(Fault::RunsRoundsTwice) => RoundClaim::Yours,
                other => other,
            })
        })
    }

    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.store.put_blob(id, value, self.kept_for(ttl))
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.store.post_blob(id, value, self.kept_for(ttl))
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty")
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}
