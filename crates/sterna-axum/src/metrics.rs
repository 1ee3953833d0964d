//! Counters of all routes of one [`Resume`](crate::Resume).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters of the pausing routes of one instance.
///
/// [`to_prometheus`](Self::to_prometheus) writes them for a scrape.
#[derive(Default)]
pub struct Metrics {
    accepted: AtomicU64,
    finished: AtomicU64,
    paused: AtomicU64,
    replayed: AtomicU64,
    resumed: AtomicU64,
    refused: Mutex<BTreeMap<&'static str, u64>>,
    undeclared: Mutex<BTreeSet<String>>,
}

impl Metrics {
    pub(crate) fn count_accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_finished(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_paused(&self) {
        self.paused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_replayed(&self) {
        self.replayed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_resumed(&self) {
        self.resumed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_refused(&self, reason: &'static str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(reason).or_default() += 1;
    }

    /// Notes a question that no route has declared; `true` if it is a new one.
    pub(crate) fn note_undeclared(&self, question: String) -> bool {
        let mut undeclared = self
            .undeclared
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        undeclared.len() < MOST_UNDECLARED && undeclared.insert(question)
    }

    /// Returns the questions that were asked and that their route does not
    /// declare, such as "POST /checkout asks `otp`": the first 64 of them. The
    /// description of the API does not have them.
    #[must_use]
    pub fn undeclared(&self) -> Vec<String> {
        let undeclared = self
            .undeclared
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        undeclared.iter().cloned().collect()
    }

    /// Returns the number of states that were refused for `reason`, such as
    /// `expired` or `other_principal`.
    #[must_use]
    pub fn refused(&self, reason: &str) -> u64 {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get(reason).copied().unwrap_or_default()
    }

    /// Returns the number of requests that became operations.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Returns the number of requests that ended with questions.
    #[must_use]
    pub fn paused(&self) -> u64 {
        self.paused.load(Ordering::Relaxed)
    }

    /// Returns the number of responses that were sent again from the ledger.
    #[must_use]
    pub fn replayed(&self) -> u64 {
        self.replayed.load(Ordering::Relaxed)
    }

    /// Writes all counters in the text format of Prometheus.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        for (name, help, count) in [
            (
                "accepted",
                "Requests that became operations.",
                &self.accepted,
            ),
            (
                "finished",
                "Requests that a handler answered.",
                &self.finished,
            ),
            (
                "paused",
                "Requests that ended with questions.",
                &self.paused,
            ),
            (
                "replayed",
                "Responses sent again from the ledger.",
                &self.replayed,
            ),
            ("resumed", "Requests that brought a state.", &self.resumed),
        ] {
            let count = count.load(Ordering::Relaxed);
            let name = format_args!("sterna_http_{name}_total");
            let _ = writeln!(
                text,
                "# HELP {name} {help}\n# TYPE {name} counter\n{name} {count}"
            );
        }
        let name = "sterna_http_refused_total";
        let _ = writeln!(
            text,
            "# HELP {name} States that were refused.\n# TYPE {name} counter"
        );
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        for (reason, count) in &*refused {
            let _ = writeln!(text, "{name}{{reason=\"{reason}\"}} {count}");
        }
        text
    }
}

/// Names of questions are in the source of handlers, so there are few; a scope may
/// be made of data.
const MOST_UNDECLARED: usize = 64;

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics")
            .field("paused", &self.paused())
            .finish_non_exhaustive()
    }
}
