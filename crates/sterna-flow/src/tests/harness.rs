//! Runs a program in one of the ways, with crashes, and compares it with the
//! oracle after every round.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;

use super::FLOW;
use super::interpret::{Eval, eval, read_answer};
use super::oracle::{Event, Oracle};
use super::program::Node;
use super::rng::Rng;
use super::world::World;
use crate::journal::v1::read_number;
use crate::{
    BuildMatch, Driver, Engine, Entry, ExecutionMode, FlowId, Journal, Kind, Limits, OpenQuestion,
    Outcome, Run, Settings, UnixMillis,
};

/// One program in one way of running.
pub(super) struct Case<'p> {
    pub(super) program: &'p Node,
    pub(super) schedule: u64,
    pub(super) mode: ExecutionMode,
    pub(super) has_runtime: bool,
}

/// Description of a failure.
pub(super) type Fault = String;

type Handler<'p> = dyn Future<Output = Eval> + Send + 'p;

pub(super) struct Harness<'p> {
    pub(super) case: &'p Case<'p>,
    pub(super) rng: Rng,
    pub(super) world: World,
    pub(super) engine: Arc<Engine>,
    pub(super) now: UnixMillis,
    /// Chances in percent, drawn once per case.
    pub(super) crash: u64,
    pub(super) shed: u64,
    pub(super) cancel: u64,
    pub(super) cancelled: bool,
    waker: Waker,
    flag: Arc<Flag>,
}

#[derive(Default)]
struct Flag {
    woken: AtomicBool,
    notify: Notify,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }
}

impl<'p> Harness<'p> {
    pub(super) fn new(case: &'p Case<'p>) -> Self {
        let mut rng = Rng::new(case.schedule);
        let world = World::new(case.has_runtime, u32::try_from(rng.below(4)).unwrap());
        let settings = Settings {
            max_rounds: u32::MAX,
            limits: Limits {
                entries: 10_000,
                ..Limits::default()
            },
            ..Settings::default()
        };
        let engine = Engine::new(super::sha256)
            .settings(settings)
            .ledger(Arc::new(world.clone()))
            .blobs(Arc::new(world.clone()));
        let flag = Arc::<Flag>::default();
        Self {
            case,
            crash: *rng.pick(&[0, 0, 3, 15]).unwrap(),
            shed: *rng.pick(&[0, 0, 20]).unwrap(),
            cancel: *rng.pick(&[0, 0, 0, 0, 0, 0, 0, 2]).unwrap(),
            cancelled: false,
            rng,
            world,
            engine: Arc::new(engine),
            now: UnixMillis::new(1_000_000),
            waker: Waker::from(flag.clone()),
            flag,
        }
    }

    /// A run of the program, from `journal` on.
    pub(super) fn begin(&self, journal: Journal, round: u32) -> Driver<'p, Handler<'p>> {
        let mut run = Run::new(self.engine.clone(), FlowId::from_bytes(FLOW))
            .mode(self.case.mode)
            .resume(journal, round, BuildMatch::Same);
        if self.case.mode == ExecutionMode::Task {
            run = run.journaling(Arc::new(self.world.clone()));
        }
        let (world, program) = (self.world.clone(), self.case.program);
        run.drive(move |cx| -> std::pin::Pin<Box<Handler<'p>>> {
            Box::pin(async move { eval(&cx, &world, program, 0).await })
        })
    }

    pub(super) fn poll(
        &self,
        driver: &mut Driver<'p, Handler<'p>>,
    ) -> Poll<Outcome<u64, super::interpret::Stop>> {
        self.flag.woken.store(false, Ordering::Release);
        driver.poll(self.now, &mut Context::from_waker(&self.waker))
    }

    /// Returns whether to poll again at once, after letting a runtime go on.
    pub(super) async fn is_woken(&self) -> bool {
        let woken = self.flag.woken.load(Ordering::Acquire);
        if woken && self.case.has_runtime {
            tokio::task::yield_now().await;
        }
        woken
    }

    /// Something happens outside: a body may go on, or time passes. Says whether
    /// there was anything.
    pub(super) fn outside(&mut self, driver: &Driver<'p, Handler<'p>>) -> bool {
        let next = driver.next_wake().filter(|at| *at > self.now);
        let waits = self.rng.chance(30);
        match next {
            Some(at) if waits => self.now = at,
            _ if self.world.open_gate(self.rng.next()) => {}
            Some(at) => self.now = at,
            None => return false,
        }
        true
    }

    /// Waits for a body that runs elsewhere.
    pub(super) async fn wait(&self, driver: &Driver<'p, Handler<'p>>) -> Result<(), Fault> {
        let woken = self.flag.notify.notified();
        if self.is_woken().await {
            return Ok(());
        }
        let minute = Duration::from_secs(60);
        if !self.case.has_runtime || tokio::time::timeout(minute, woken).await.is_err() {
            return Err(format!("hangs: {driver:?}"));
        }
        Ok(())
    }

    /// The answers of a client: some, in any order, some of them no good.
    pub(super) fn answers(&mut self, questions: &[OpenQuestion]) -> Vec<(String, Bytes)> {
        let mut answers = Vec::new();
        for question in questions {
            if self.rng.chance(60) {
                answers.push((question.key.to_string(), self.answer()));
            }
        }
        for at in (1..answers.len()).rev() {
            answers.swap(at, self.rng.below(at + 1));
        }
        if self.rng.chance(10) {
            answers.insert(0, ("q1".to_owned(), self.answer()));
        }
        answers
    }

    pub(super) fn answer(&mut self) -> Bytes {
        match self.rng.chance(15) {
            true => Bytes::from_static(b"no number"),
            false => Bytes::from(self.rng.next().to_string()),
        }
    }

    pub(super) fn event(&self, entry: &Entry) -> Event {
        let blob = entry
            .by_ref()
            .then(|| self.world.blob(entry.value()))
            .flatten();
        let value = blob.as_ref().unwrap_or_else(|| entry.value());
        Event {
            key: entry.key().to_string(),
            kind: entry.kind(),
            value: match entry.kind() {
                Kind::Answer => read_answer(value),
                Kind::Step | Kind::Once if !entry.failed() => serde_json::from_slice(value).ok(),
                Kind::Now => read_number(value).ok().map(|(number, _)| number),
                _ => None,
            },
            eval: serde_json::from_slice(value).ok(),
        }
    }

    pub(super) fn oracle(&self, log: &[Event]) -> Oracle<'p> {
        let mut oracle = Oracle::new(self.case.program);
        for event in log {
            oracle.feed(event);
        }
        oracle
    }

    /// Compares open questions with what the oracle says must be open.
    pub(super) fn check_questions(
        &self,
        questions: &[OpenQuestion],
        oracle: &Oracle<'_>,
    ) -> Result<(), Fault> {
        let asked: BTreeMap<String, String> = questions
            .iter()
            .map(|question| {
                let words = String::from_utf8_lossy(&question.request);
                let words = words.split(" (").next().unwrap_or_default().to_owned();
                (question.key.to_string(), words)
            })
            .collect();
        let expected = oracle.questions();
        if asked != expected {
            return Err(format!("asks {asked:?}, must ask {expected:?}"));
        }
        Ok(())
    }

    /// Compares the end of a flow with what the oracle says it must be.
    pub(super) fn check_end(
        &self,
        outcome: &Outcome<u64, super::interpret::Stop>,
        log: &[Event],
    ) -> Result<(), Fault> {
        let oracle = self.oracle(log);
        let expected = oracle.result();
        let undone = self.world.undone();
        let result = match outcome {
            Outcome::Finished(value) => Some(Ok(*value)),
            Outcome::Failed(stop) => Some(Err(*stop)),
            Outcome::Cancelled if self.cancelled => None,
            other => return Err(format!("ends with {other:?}")),
        };
        if result.is_some() && result != expected {
            return Err(format!("ends with {result:?}, must end with {expected:?}"));
        }
        let mut must_undo = oracle.undos().to_vec();
        must_undo.reverse();
        if matches!(outcome, Outcome::Finished(_)) {
            must_undo.clear();
        }
        // A crash during a compensation lets it run twice, in a second pass.
        if self.crash == 0 && undone != must_undo {
            return Err(format!("undoes {undone:?}, must undo {must_undo:?}"));
        }
        self.check_world()
    }

    pub(super) fn check_world(&self) -> Result<(), Fault> {
        match self.world.faults().first() {
            Some(fault) => Err(fault.clone()),
            None => Ok(()),
        }
    }
}
