//! What the suite found, read from the checks it wrote.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    error_message: Option<String>,
}

/// The checks of one run, counted.
#[derive(Default)]
pub(super) struct Verdict {
    scenarios: usize,
    successes: usize,
    skipped: usize,
    /// Failures and warnings alike: neither is accepted.
    complaints: Vec<String>,
}

impl Verdict {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut verdict = Self::default();
        verdict.collect(folder)?;
        verdict.complaints.sort();
        Ok(verdict)
    }

    /// Reads the checks of every scenario below `folder`; the name of a
    /// scenario may hold a slash.
    fn collect(&mut self, folder: &Path) -> Result<()> {
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("the suite wrote nothing to {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                self.collect(&path)?;
            } else if path.ends_with("checks.json") {
                self.add(&path)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, file: &Path) -> Result<()> {
        let scenario = file
            .parent()
            .and_then(Path::file_name)
            .and_then(|name| name.to_str())
            .unwrap_or("?");
        let text = std::fs::read_to_string(file)?;
        let checks: Vec<Check> = serde_json::from_str(&text)
            .with_context(|| format!("cannot read {}", file.display()))?;
        self.scenarios += 1;
        for check in checks {
            match check.status.as_str() {
                "SUCCESS" => self.successes += 1,
                "SKIPPED" => self.skipped += 1,
                "INFO" => {}
                bad => self.complaints.push(format!(
                    "{scenario}: {bad} {}: {}",
                    check.id,
                    check.error_message.as_deref().unwrap_or("no message")
                )),
            }
        }
        Ok(())
    }

    /// Fails on any complaint, and when fewer checks than `floor` succeeded:
    /// a scenario that did not run must not look like one that passed.
    pub(super) fn require(&self, floor: usize) -> Result<()> {
        for complaint in &self.complaints {
            eprintln!("{complaint}");
        }
        ensure!(
            self.complaints.is_empty(),
            "{} check(s) of the conformance suite failed or warned",
            self.complaints.len()
        );
        ensure!(
            self.successes >= floor,
            "only {} checks succeeded, expected at least {floor}",
            self.successes
        );
        Ok(())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} scenarios, {} succeeded, {} failed or warned, {} skipped",
            self.scenarios,
            self.successes,
            self.complaints.len(),
            self.skipped
        )
    }
}
