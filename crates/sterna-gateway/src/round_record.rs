//! Records of the rounds of calls: lines of the audit log, and metrics.

use std::sync::Arc;
use std::time::Duration;

use ring::digest::{SHA256, digest};
use serde::Serialize;
use sterna_protocol::result::Outcome;
use sterna_server::auth::Principal;
use sterna_server::http::Clock;
use sterna_server::{BackendCall, RequestError, UnixMillis};
use tokio::time::Instant;

use crate::audit::AuditLog;
use crate::failure::reason_of;
use crate::metrics::GatewayMetrics;

/// Recorder of rounds. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct RoundRecorder {
    pub(crate) audit: Option<Arc<AuditLog>>,
    pub(crate) metrics: GatewayMetrics,
    pub(crate) clock: Clock,
}

impl RoundRecorder {
    /// Begins the record of a round.
    pub(crate) fn begin(&self, method: &'static str, call: &BackendCall) -> RoundRecord {
        let line = match &self.audit {
            Some(_) => AuditLine {
                time: UnixMillis::from(self.clock.now()).to_string(),
                who: Who::of(call.caller().principal()),
                method,
                name: cut(call.name()),
                round: call.round(),
                trace: call.trace().id(),
                arguments: Some(sha256(
                    call.arguments().map_or("", |arguments| arguments.as_str()),
                )),
                ..AuditLine::default()
            },
            // The metrics need the server and the outcome alone.
            None => AuditLine::default(),
        };
        RoundRecord {
            recorder: self.clone(),
            begun: Instant::now(),
            line: Some(AuditLine {
                outcome: "cancelled",
                ..line
            }),
        }
    }
}

/// Record of a round that runs. Dropped before its end, it is one of a round that
/// was cancelled.
#[derive(Debug)]
pub(crate) struct RoundRecord {
    recorder: RoundRecorder,
    begun: Instant,
    /// `None` when it is written.
    line: Option<AuditLine>,
}

impl RoundRecord {
    /// Notes the server that the call goes to.
    pub(crate) fn goes_to(&mut self, server: &str) {
        if let Some(line) = &mut self.line {
            line.server = Some(server.to_owned());
        }
    }

    /// Notes that the caller did not approve the call.
    pub(crate) fn declined(&mut self) {
        if let Some(line) = &mut self.line {
            line.outcome = "declined";
        }
    }

    /// Ends the record of a round; `is_error` tells a result that says that
    /// something failed.
    pub(crate) async fn end<T>(
        mut self,
        served: &Result<Outcome<T>, RequestError>,
        is_error: impl FnOnce(&T) -> bool,
    ) {
        let Some(mut line) = self.line.take() else {
            return;
        };
        line.outcome = match served {
            _ if line.outcome == "declined" => "declined",
            Ok(Outcome::Complete(result)) if is_error(result) => "failed",
            Ok(Outcome::Complete(_)) => "done",
            Ok(_) => "asked",
            Err(_) => "refused",
        };
        if let Err(error) = served {
            line.code = Some(error.as_object().code.0);
            line.reason = reason_of(error.as_object());
        }
        let took = self.begun.elapsed();
        if let Some(written) = self.recorder.count(&mut line, took)
            && let Some(audit) = &self.recorder.audit
        {
            audit.add(written).await;
        }
    }
}

impl Drop for RoundRecord {
    fn drop(&mut self) {
        let Some(mut line) = self.line.take() else {
            return;
        };
        let took = self.begun.elapsed();
        if let Some(written) = self.recorder.count(&mut line, took)
            && let Some(audit) = &self.recorder.audit
        {
            audit.add_now(written);
        }
    }
}

impl RoundRecorder {
    /// Counts a round, and writes its line if there is a log.
    fn count(&self, line: &mut AuditLine, took: Duration) -> Option<String> {
        if let Some(server) = &line.server {
            self.metrics.round(server, line.outcome, took);
        }
        self.audit.as_ref()?;
        line.millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let written = serde_json::to_string(&line).expect("it has string keys only");
        Some(written + "\n")
    }
}

/// One line of the audit log. It holds no argument, no answer and no result.
#[derive(Debug, Default, Serialize)]
struct AuditLine {
    time: String,
    /// `null` for an anonymous caller.
    who: Option<Who>,
    method: &'static str,
    /// Name of the tool or the prompt as it is offered, or URI of the resource.
    name: String,
    server: Option<String>,
    round: u32,
    trace: String,
    outcome: &'static str,
    /// Code of a JSON-RPC error.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    /// Reason of a failure of the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    millis: u64,
    /// SHA-256 of the arguments as the caller wrote them.
    #[serde(rename = "argumentsSha256", skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
}

#[derive(Debug, Serialize)]
struct Who {
    issuer: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
}

impl Who {
    fn of(principal: &Principal) -> Option<Self> {
        Some(Self {
            issuer: principal.issuer()?.to_owned(),
            subject: principal.subject()?.to_owned(),
            client: principal.client().map(str::to_owned),
        })
    }
}

fn sha256(text: &str) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A URI may be as long as a request.
fn cut(name: &str) -> String {
    let mut rest = name.chars();
    let mut cut: String = rest.by_ref().take(MOST_NAME).collect();
    if rest.next().is_some() {
        cut.push('…');
    }
    cut
}

const MOST_NAME: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_known_one_and_a_long_name_is_cut() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(""), empty);
        assert_eq!(cut("short"), "short");
        assert_eq!(cut(&"ä".repeat(2000)).chars().count(), MOST_NAME + 1);
    }
}
