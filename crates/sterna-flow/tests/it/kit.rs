//! A client, a server and a clock, small enough to tell a story in ten lines.

use std::error::Error;
use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, ready};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use sterna_flow::{
    BuildMatch, Diagnostic, Digest, Driver, Engine, Fingerprint, FlowCx, FlowId, Handler, Journal,
    Limits, Outcome, Pin as Pinning, Question, Rejected, Run, Settings, UnixMillis,
};
use tokio::time::{Instant, sleep_until};

pub(crate) type Reply = Result<String, Box<dyn Error + Send + Sync>>;

/// One flow, from its first request to its end.
pub(crate) struct Flow {
    pub(crate) engine: Engine,
    pub(crate) journal: Journal,
    pub(crate) round: u32,
    pub(crate) build: BuildMatch,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) shedding: bool,
    epoch: Instant,
}

impl Flow {
    pub(crate) fn new() -> Self {
        Self::with(Engine::new(sha256))
    }

    pub(crate) fn with(engine: Engine) -> Self {
        Self {
            engine,
            journal: Journal::new(),
            round: 0,
            build: BuildMatch::Same,
            diagnostics: Vec::new(),
            shedding: false,
            epoch: Instant::now(),
        }
    }

    /// One request with the answers of a client; says how it ended.
    pub(crate) async fn request<H, A>(
        &mut self,
        answers: &[(&str, &str)],
        handler: H,
        args: A,
    ) -> String
    where
        H: for<'a> Handler<'a, FlowCx<'a>, A, Output = Reply>,
    {
        let mut driver = self.run().drive(|cx| Box::pin(handler.call(cx, args)));
        for (key, answer) in answers {
            driver.answer(key, (*answer).to_owned(), self.now());
        }
        if self.shedding {
            driver.remote().shed();
        }
        let outcome = self.finish(&mut driver).await;
        self.diagnostics.extend(driver.take_diagnostics());
        self.take(outcome)
    }

    /// A run that goes on where the flow is, from bytes.
    pub(crate) fn run(&self) -> Run {
        let limits = Limits::default();
        let journal = Journal::decode(self.journal.encode(), &limits).unwrap();
        Run::new(Arc::new(self.engine.clone()), FlowId::from_bytes([7; 16]))
            .resume(journal, self.round, self.build)
    }

    pub(crate) fn now(&self) -> UnixMillis {
        UnixMillis::new(1_000_000) + self.epoch.elapsed()
    }

    /// Polls as a server would: when woken, and when the driver asks to be.
    pub(crate) async fn finish<F>(
        &self,
        driver: &mut Driver<'_, F>,
    ) -> Outcome<String, Box<dyn Error + Send + Sync>>
    where
        F: Future<Output = Reply> + ?Sized,
    {
        tokio::task::unconstrained(self.finish_constrained(driver)).await
    }

    /// The same, with the budget that tokio gives to every task.
    pub(crate) async fn finish_constrained<F>(
        &self,
        driver: &mut Driver<'_, F>,
    ) -> Outcome<String, Box<dyn Error + Send + Sync>>
    where
        F: Future<Output = Reply> + ?Sized,
    {
        let mut timer = Box::pin(sleep_until(Instant::now()));
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(outcome) = driver.poll(self.now(), cx) {
                    return Poll::Ready(outcome);
                }
                let Some(next) = driver.next_wake() else {
                    return Poll::Pending;
                };
                timer.as_mut().reset(Instant::now() + (next - self.now()));
                ready!(timer.as_mut().poll(cx));
            }
        })
        .await
    }

    fn take(&mut self, outcome: Outcome<String, Box<dyn Error + Send + Sync>>) -> String {
        match outcome {
            Outcome::Suspended(suspended) => {
                self.round += 1;
                self.journal = suspended.journal;
                let mut text = "asks".to_owned();
                for question in suspended.questions {
                    let words = String::from_utf8_lossy(&question.request).into_owned();
                    write!(text, " {}: {words};", question.key).unwrap();
                }
                text
            }
            Outcome::Shed(journal) => {
                self.journal = journal;
                "shed".to_owned()
            }
            Outcome::Finished(text) => format!("done: {text}"),
            Outcome::Failed(error) => format!("failed: {error}"),
            Outcome::Cancelled => "cancelled".to_owned(),
            Outcome::Stopped(error) => format!("stopped: {error}"),
            other => format!("{other:?}"),
        }
    }

    /// Names in the journal, in order.
    pub(crate) fn keys(&self) -> String {
        let keys: Vec<_> = self
            .journal
            .entries()
            .iter()
            .map(|e| e.key().as_str())
            .collect();
        keys.join(" ")
    }

    pub(crate) fn codes(&self) -> Vec<&'static str> {
        self.diagnostics.iter().map(Diagnostic::code).collect()
    }
}

/// Settings that differ from the default.
pub(crate) fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings);
    settings
}

pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// A question that takes any text. `form` is what may be answered.
pub(crate) struct Text {
    words: String,
    form: &'static str,
}

pub(crate) fn text(words: impl Into<String>) -> Text {
    Text {
        words: words.into(),
        form: "text",
    }
}

/// A question that takes whole numbers.
pub(crate) fn number(words: impl Into<String>) -> Text {
    Text {
        words: words.into(),
        form: "number",
    }
}

impl Question for Text {
    type Answer = String;

    fn fingerprint(&self, pin: Pinning, digest: &dyn Digest) -> Fingerprint {
        let words = match pin {
            Pinning::Exact => self.words.as_bytes(),
            _ => b"",
        };
        Fingerprint::of(digest, &[words, self.form.as_bytes()])
    }

    fn request(&self, rejected: Option<&str>) -> Bytes {
        Bytes::from(match rejected {
            None => self.words.clone(),
            Some(reason) => format!("{} ({reason})", self.words),
        })
    }

    fn read(&self, answer: &Bytes) -> Result<String, Rejected> {
        let answer = String::from_utf8_lossy(answer).into_owned();
        match self.form == "number" && answer.parse::<i64>().is_err() {
            true => Err(Rejected::new(format!("`{answer}` is no number"))),
            false => Ok(answer),
        }
    }
}

/// Counts how often a body runs.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    /// A body that works.
    pub(crate) async fn work(&self, result: impl Into<String>) -> Result<String, String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Ok(result.into())
    }

    /// A body that does not.
    pub(crate) async fn fail(&self, error: &str) -> Result<String, String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Err(error.to_owned())
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
