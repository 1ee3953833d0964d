//! One task in the hands of one worker.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use sterna_flow::{
    Asked, BuildMatch, DecodeError, Entry, ExecutionMode, Fingerprint, Journal, Run,
};
use sterna_http::{Admission, Shutdown};
use sterna_store::{Claimed, Commit, Outcome, Passivated, Passivation, Phase, Question};
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::{Instrument, Span, field};

use super::Tasks;
use super::desk::{Desk, Recorder};
use super::keeper::{Keeper, Lost};
use super::run::{End, Work};
use super::v1::{Stored, Unreadable};
use crate::call::{Becoming, Facts, Headers, Request};
use crate::core::Core;
use crate::cx::{Cx, Posed};
use crate::failure::Failure;
use crate::handler::Way;

/// A task that was claimed, and what its worker needs.
pub(super) struct Job {
    pub(super) core: Arc<Core>,
    pub(super) tasks: Arc<Tasks>,
    pub(super) claimed: Claimed,
    /// When the claim was asked for.
    pub(super) since: Instant,
    /// Rings when the task was answered or cancelled.
    pub(super) bell: Arc<Notify>,
    pub(super) shutdown: Shutdown,
}

impl Job {
    /// Works on the task until it ends, waits, or is somebody else's: one span.
    pub(super) async fn run(self) {
        let span = tracing::info_span!(
            target: "sterna::tasks",
            "mcp.task",
            otel.kind = "consumer",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = field::Empty,
            sterna.task = ?self.claimed.lease.task,
            sterna.attempt = self.claimed.attempt,
            sterna.outcome = field::Empty,
        );
        self.work().instrument(span).await;
    }

    async fn work(self) {
        let (tasks, claimed) = (Arc::clone(&self.tasks), &self.claimed);
        let held = Arc::clone(&tasks);
        let mut keeper = Keeper::new(held, claimed.lease, tasks.config.lease, self.since);
        let retry = self.pause();
        // A worker that has lost its lease says nothing more: the task is another's.
        if self.see_to(&mut keeper, retry).await.is_ok() {
            tasks.touched();
        }
    }

    async fn see_to(self, keeper: &mut Keeper, retry: Duration) -> Result<(), Lost> {
        let end = match self.begin() {
            Ok(work) => work.go_on(keeper).await?,
            Err(end) => end,
        };
        Span::current().record("sterna.outcome", end.as_str());
        match end {
            End::Parked => Ok(()),
            End::Finished(outcome) => keeper.finish(outcome).await.map(drop),
            End::HandedOver => {
                let rested = keeper.rest(Commit::default(), Passivation::HandOver).await;
                rested.map(drop)
            }
            End::Left => {
                let rested = keeper
                    .rest(Commit::default(), Passivation::For(LEFT))
                    .await?;
                if let Passivated::Refused(_) = rested {
                    // What woke it is for whoever can read it.
                    keeper
                        .rest(Commit::default(), Passivation::Retry(LEFT))
                        .await?;
                }
                Ok(())
            }
            End::Retry => {
                let rested = keeper
                    .rest(Commit::default(), Passivation::Retry(retry))
                    .await;
                rested.map(drop)
            }
        }
    }

    /// Takes the task up where its journal ends, or says how it ends instead.
    fn begin(self) -> Result<Work, End> {
        let claimed = &self.claimed;
        let task = claimed.lease.task;
        let unreadable = |why| match why {
            Unreadable::Damaged => {
                tracing::error!(target: "sterna::tasks", ?task, "MR0403: a stored task cannot be read");
                End::Finished(failed(&Failure::Internal))
            }
            Unreadable::Newer => {
                tracing::warn!(target: "sterna::tasks", ?task, "MR0405: a task of a newer version is left to others");
                End::Left
            }
        };
        let stored = Stored::read(&claimed.request).map_err(unreadable)?;
        Span::current().record("gen_ai.tool.name", &*stored.tool);
        if stored.version > self.core.version {
            return Err(unreadable(Unreadable::Newer));
        }
        let mut journal = self.journal().map_err(unreadable)?;
        journal.set_version(stored.version);
        // Those who can only leave a task alone have not tried it.
        let attempts = self.tasks.config.attempts;
        if claimed.attempt > attempts && !claimed.summary.status.is_final() {
            tracing::error!(target: "sterna::tasks", ?task, attempts, "MR0402: a task fails again and again");
            return Err(End::Finished(failed(&Failure::Internal)));
        }
        let entry = self.core.offers.tools.get(&stored.tool);
        let entry = entry.ok_or_else(|| unreadable(Unreadable::Damaged))?;
        let way = Arc::clone(&entry.way);
        let Way::Flow(handler) = &*way else {
            return Err(unreadable(Unreadable::Damaged));
        };
        let summary = &claimed.summary;
        let lifetime = summary.expires_at.map(|end| end - summary.created_at);
        let engine = self.tasks.engine(&self.core.engine, lifetime);
        let engine = engine.map_err(|_| End::Finished(failed(&Failure::Internal)))?;
        let build = if stored.build == self.core.build {
            BuildMatch::Same
        } else {
            BuildMatch::Other
        };
        let caller = stored.caller();
        let desk = Desk::new(Arc::clone(&self.tasks), claimed.lease);
        let mut run = Run::new(engine, claimed.flow)
            .mode(ExecutionMode::Task)
            .resume(journal, 0, build)
            .listener(Arc::clone(&desk) as _)
            .journaling(Arc::new(Recorder(Arc::clone(&desk))));
        if let Some(subject) = caller.principal().subject() {
            run = run.principal(subject);
        }
        let request = Request::new(Facts {
            core: Arc::clone(&self.core),
            meta: stored.meta,
            admission: Admission::unlimited(caller),
            extensions: http::Extensions::new(),
            headers: Headers::Own(http::HeaderMap::new()),
            reporter: None,
            mistake: OnceLock::new(),
            place: OnceLock::new(),
            becoming: Becoming::default(),
            posed: Posed::default(),
        });
        let input = stored.arguments;
        let driver = run.drive(|cx| handler(Cx::new(cx, request.clone()), &input));
        let open = open_questions(claimed);
        Ok(Work::new(self, stored.tool, request, driver, desk, open))
    }

    /// The journal as it was stored, entry by entry.
    fn journal(&self) -> Result<Journal, Unreadable> {
        let limits = &self.core.limits;
        let entries = self.claimed.journal.iter();
        let entries = entries.map(|entry| Entry::from_bytes(entry.value.clone(), limits));
        let entries: Vec<Entry> = entries.collect::<Result<_, _>>().map_err(why)?;
        let asked = self.claimed.asked.iter();
        let asked = asked
            .filter(|asked| matches!(asked.phase, Phase::Open | Phase::Answered))
            .map(|asked| Asked::new(asked.key.as_str(), Fingerprint::new(asked.fingerprint)));
        Journal::from_entries(entries, asked).map_err(why)
    }

    /// How long to wait before the task is tried again.
    fn pause(&self) -> Duration {
        let config = &self.tasks.config;
        let doublings = self.claimed.attempt.saturating_sub(1).min(16);
        let pause = config.first_retry.saturating_mul(1 << doublings);
        pause.min(config.longest_retry)
    }
}

/// Whether a build wrote it that knows more than this one.
fn why(error: DecodeError) -> Unreadable {
    match error {
        DecodeError::Flags(_) | DecodeError::Kind(_) | DecodeError::Version(_) => Unreadable::Newer,
        _ => Unreadable::Damaged,
    }
}

/// The questions that are open. The store keeps their first wording, so that
/// they need not be repeated.
fn open_questions(claimed: &Claimed) -> BTreeMap<String, Question> {
    let open = claimed.asked.iter();
    open.filter(|asked| asked.phase == Phase::Open)
        .map(|asked| {
            let question = Question::new(asked.key.clone(), asked.fingerprint, Bytes::new());
            (asked.key.as_str().to_owned(), question)
        })
        .collect()
}

/// The end of a task whose call failed (TASK-S4).
pub(super) fn failed(failure: &Failure) -> Outcome {
    let (_, error) = failure.to_wire();
    Outcome::Failed(json(&error))
}

pub(super) fn json(value: &impl Serialize) -> Bytes {
    let bytes = serde_json::to_vec(value).expect("wire types have string keys only");
    bytes.into()
}

/// How long a task that cannot be worked on here is left alone: long enough for
/// those who can to look, and not much more.
const LEFT: Duration = Duration::from_secs(5);
