//! What instances did to the world, one line each, in one file.
//!
//! A line is one small write to a file opened for appending, so that lines of
//! several processes do not mix, and what a killed process has written stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Where an instance notes what it does.
#[derive(Clone, Debug)]
pub(crate) struct Effects(PathBuf);

impl Effects {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn note(&self, what: &str, order: u64, value: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        file.write_all(format!("{what} {order} {value}\n").as_bytes())
    }
}

/// What all instances did together.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// How often each order was paid.
    pub(crate) payments: BTreeMap<u64, u32>,
    /// Every plan that a handler saw after it was committed.
    pub(crate) plans: BTreeMap<u64, BTreeSet<String>>,
}

impl Done {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let mut done = Self::default();
        let text = std::fs::read_to_string(path).context("nothing was done at all")?;
        for line in text.lines() {
            let mut words = line.split(' ');
            let (what, order) = (words.next(), words.next());
            let order = order.and_then(|order| order.parse().ok());
            match (what, order, words.next()) {
                (Some("pay"), Some(order), _) => *done.payments.entry(order).or_default() += 1,
                (Some("saw"), Some(order), Some(plan)) => {
                    done.plans.entry(order).or_default().insert(plan.to_owned());
                }
                _ => anyhow::bail!("an effect that nobody has: {line}"),
            }
        }
        Ok(done)
    }
}
