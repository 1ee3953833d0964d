//! Liveness and readiness of the server.

use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::body::ResponseBody;
use super::clock;
use super::metrics::Registry;
use super::reply;
use crate::guard::with_deadline;

/// Something that must be in order before the server can do its work: keys, a
/// store. Asked by `/readyz`, never by `/livez`, because an outage elsewhere
/// is no reason to restart us.
pub trait Check: Send + Sync + 'static {
    /// Its name in the report.
    fn name(&self) -> &'static str;

    /// Looks. What takes longer than two seconds counts as failing.
    fn check(&self) -> Checking;
}

/// A look under way.
pub type Checking = Pin<Box<dyn Future<Output = Health> + Send>>;

/// The result of a [`Check`]. It is public, so it holds ids and no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    passing: bool,
    ids: Vec<String>,
}

impl Health {
    /// All is well.
    #[must_use]
    pub fn passing() -> Self {
        Self {
            passing: true,
            ids: Vec::new(),
        }
    }

    /// It is not; why is for the log.
    #[must_use]
    pub fn failing() -> Self {
        Self {
            passing: false,
            ids: Vec::new(),
        }
    }

    /// Lists ids, of keys for example, by which an operator sees that one
    /// replica differs from the others.
    #[must_use]
    pub fn with_ids(mut self, ids: impl IntoIterator<Item = String>) -> Self {
        self.ids = ids.into_iter().collect();
        self
    }
}

/// The checks behind `/readyz` and the metrics behind `/metrics`.
#[derive(Default)]
pub struct Probes {
    checks: Vec<Box<dyn Check>>,
    registry: Registry,
    last: Mutex<Option<Report>>,
}

#[derive(Clone)]
struct Report {
    at: Instant,
    status: StatusCode,
    document: Bytes,
}

impl Report {
    /// The report with the checks, or without them for an asker that may not
    /// see them.
    fn show(self, details: bool) -> Response<ResponseBody> {
        let document = match details {
            true => self.document,
            false => bare(self.status == StatusCode::OK),
        };
        reply::json(self.status, document)
    }
}

impl Probes {
    /// No checks, and numbers of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// HttpMetrics kept in `registry`, together with those of others.
    #[must_use]
    pub fn counting_in(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Asks `check` too.
    #[must_use]
    pub fn checking(mut self, check: impl Check) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// The registry that metrics are taken from.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The answer to `/readyz`. Checks are asked at most once a second: the
    /// probe is public, and a check often asks a store.
    pub(super) async fn readiness(&self, now: Instant, details: bool) -> Response<ResponseBody> {
        let last = self.last().clone();
        let report = match last {
            Some(report) if now.saturating_duration_since(report.at) < FRESH => report,
            _ => {
                let report = self.look().await;
                *self.last() = Some(report.clone());
                report
            }
        };
        report.show(details)
    }

    async fn look(&self) -> Report {
        let mut ready = true;
        let mut checks = Map::new();
        for check in &self.checks {
            let looked = with_deadline(clock::now() + PATIENCE, check.check()).await;
            let health = looked.unwrap_or_else(|_| Health::failing());
            ready &= health.passing;
            let mut entry = json!({ "passing": health.passing });
            if !health.ids.is_empty() {
                entry["ids"] = health.ids.into();
            }
            checks.insert(check.name().to_owned(), entry);
        }
        Report {
            at: clock::now(),
            status: match ready {
                true => StatusCode::OK,
                false => StatusCode::SERVICE_UNAVAILABLE,
            },
            document: document(ready, checks.into()),
        }
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Report>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.checks.iter().map(|check| check.name()).collect();
        f.debug_struct("Probes")
            .field("checks", &names)
            .finish_non_exhaustive()
    }
}

/// The answer to `/readyz` of a server that is going away.
pub(super) fn leaving(details: bool) -> Response<ResponseBody> {
    let document = match details {
        true => document(false, json!({ "shutdown": { "passing": false } })),
        false => bare(false),
    };
    reply::json(StatusCode::SERVICE_UNAVAILABLE, document)
}

/// The answer to `/livez`.
pub(super) fn alive() -> Response<ResponseBody> {
    reply::json(StatusCode::OK, r#"{"alive":true}"#)
}

fn bare(ready: bool) -> Bytes {
    Bytes::from_static(match ready {
        true => br#"{"ready":true}"#,
        false => br#"{"ready":false}"#,
    })
}

fn document(ready: bool, checks: Value) -> Bytes {
    Bytes::from(json!({ "ready": ready, "checks": checks }).to_string())
}

const FRESH: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(2);
