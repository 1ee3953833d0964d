//! The doctor: what clients of both eras get from a server.
//!
//! `sterna doctor` prints its findings and the inspector shows them on a page.

mod asks;
mod lists;
mod strict;

use std::error::Error as _;

use serde_json::{Map, Value};
use sterna_client::{BoxError, Builder, Client, Era, Error, ErrorKind};
use thiserror::Error as ThisError;

use asks::Overheard;

/// One thing that was looked at.
///
/// Its text has words of the server in it and may have any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The era of the client: `modern` or `legacy`.
    pub era: &'static str,
    /// The check.
    pub check: &'static str,
    /// `true` if the server passes it.
    pub ok: bool,
    /// Observation in words.
    pub seen: String,
}

/// A tool to call, with its arguments.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a name and its arguments")]
pub struct Trial {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// Settings of an examination.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Examination {
    /// Tools to call, beside those that say that they change nothing and need no
    /// arguments.
    pub trials: Vec<Trial>,
    /// `true` if the server is reached over HTTP: it then must refuse header
    /// fields that contradict the request.
    pub has_headers: bool,
}

/// Findings about a server.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// All findings, by era.
    pub findings: Vec<Finding>,
    /// Number of eras in which the server can be reached.
    pub served: u32,
}

impl Report {
    /// Returns `true` if the server passes all checks. One era that it serves is
    /// enough.
    pub fn is_healthy(&self) -> bool {
        let mut findings = self.findings.iter();
        self.served > 0 && findings.all(|finding| finding.ok || finding.check == "connects")
    }
}

/// The server cannot be examined.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum DoctorError {
    /// The connection cannot be prepared.
    #[error("the connection cannot be prepared")]
    Prepare(#[source] BoxError),
    /// The server wants to know who is calling.
    #[error("the server wants to know who is calling")]
    Unauthorized(#[source] Error),
}

impl Examination {
    /// Connects in each era with a builder of `connector` and looks at what the
    /// server offers.
    ///
    /// # Errors
    ///
    /// [`DoctorError`] if no connection can be prepared or the server wants
    /// credentials. A server that cannot be reached is a finding.
    pub async fn run(
        &self,
        connector: &(dyn Fn() -> Result<Builder, BoxError> + Send + Sync),
    ) -> Result<Report, DoctorError> {
        let mut report = Report::default();
        for (era, name) in [(Era::Modern, "modern"), (Era::Legacy, "legacy")] {
            let overheard = Overheard::default();
            let builder = connector().map_err(DoctorError::Prepare)?;
            let builder = overheard.listen(builder.era(era));
            let mut findings = Findings {
                era: name,
                all: &mut report.findings,
            };
            match builder.connect().await {
                Ok(client) => {
                    report.served += 1;
                    look(&client, &self.trials, &overheard, &mut findings).await;
                    if self.has_headers && era == Era::Modern {
                        strict::look(&client, &mut findings).await;
                    }
                    client.close().await;
                }
                // One that cannot be reached at all is no finding about an era.
                Err(error) if error.kind() == ErrorKind::Auth => {
                    return Err(DoctorError::Unauthorized(error));
                }
                // Every era that is served counts; one of them is enough.
                Err(error) => findings.note("connects", false, chain(&error)),
            }
        }
        Ok(report)
    }
}

/// Findings about one era.
#[derive(Debug)]
struct Findings<'a> {
    era: &'static str,
    all: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    fn note(&mut self, check: &'static str, ok: bool, seen: impl Into<String>) {
        self.all.push(Finding {
            era: self.era,
            check,
            ok,
            seen: seen.into(),
        });
    }
}

async fn look(
    client: &Client,
    named: &[Trial],
    overheard: &Overheard,
    findings: &mut Findings<'_>,
) {
    let found = client.server();
    let versions: Vec<_> = found
        .supported_versions
        .iter()
        .map(ToString::to_string)
        .collect();
    findings.note("connects", true, format!("speaks {}", versions.join(", ")));
    let json = serde_json::to_value(found).unwrap_or_default();
    let names = json["capabilities"].as_object().into_iter().flatten();
    let names: Vec<_> = names.map(|(name, _)| name.as_str()).collect();
    findings.note("capabilities", true, names.join(", "));
    if client.era() == Era::Modern {
        lists::caching(client, findings).await;
    }
    if found.capabilities.tools.is_some() {
        match client.tools().all().await {
            Ok(tools) => {
                let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
                findings.note("tools", true, names.join(", "));
                asks::look(client, &tools, named, overheard, findings).await;
            }
            Err(error) => findings.note("tools", false, error.to_string()),
        }
    }
}

/// An error and its causes.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
