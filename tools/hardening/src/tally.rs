//! How often what came of what, as a table.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, ensure};

use crate::outcome::Outcome;

/// One row for each kind of try, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: Vec<(&'static str, BTreeMap<String, usize>)>,
}

impl Tally {
    pub(crate) fn begin(&mut self, tried: &'static str) {
        self.rows.push((tried, BTreeMap::new()));
    }

    /// Counts a try; `input` is shown if it must not end like that.
    pub(crate) fn count(&mut self, outcome: &Outcome, input: &[u8]) -> Result<()> {
        let label = outcome.label();
        ensure!(
            outcome.is_clean(),
            "`{label}` came of {}",
            String::from_utf8_lossy(&input[..input.len().min(2000)])
        );
        if let Some((_, got)) = self.rows.last_mut() {
            *got.entry(label.to_owned()).or_default() += 1;
        }
        Ok(())
    }

    /// How many tries there were.
    #[must_use]
    pub fn tries(&self) -> usize {
        self.rows.iter().flat_map(|(_, got)| got.values()).sum()
    }

    /// What came of one kind of try.
    #[must_use]
    pub fn got(&self, tried: &str) -> Vec<&str> {
        let row = self.rows.iter().filter(|(name, _)| *name == tried);
        row.flat_map(|(_, got)| got.keys().map(String::as_str))
            .collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| tried | times | got |\n|---|---|---|")?;
        for (tried, got) in &self.rows {
            let times: usize = got.values().sum();
            let each = got.iter().map(|(label, count)| match got.len() {
                1 => format!("`{label}`"),
                _ => format!("`{label}` × {count}"),
            });
            let got = each.collect::<Vec<_>>().join(", ");
            writeln!(f, "| {tried} | {times} | {got} |")?;
        }
        Ok(())
    }
}
