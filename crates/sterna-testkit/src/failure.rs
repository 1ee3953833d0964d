use std::error::Error;
use std::fmt;

use crate::notes::{Note, transcript};

/// A mistake in a flow: where it showed, what to do about it, and everything that
/// happened until then.
///
/// Its text is made to be read in the output of a test; both `Display` and
/// `Debug` give it.
pub struct Failure(Box<Parts>);

struct Parts {
    what: String,
    when: Option<String>,
    details: String,
    advice: &'static str,
    notes: Vec<Note>,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, notes: Vec<Note>) -> Self {
        Self(Box::new(Parts {
            what: what.into(),
            when: None,
            details: String::new(),
            advice: "",
            notes,
        }))
    }

    /// Adds details of the finding.
    pub(crate) fn with(mut self, details: impl Into<String>) -> Self {
        self.0.details = details.into();
        self
    }

    /// Adds the remedy.
    pub(crate) fn advising(mut self, advice: &'static str) -> Self {
        self.0.advice = advice;
        self
    }

    /// Says under which circumstances it was found; the first word counts.
    pub(crate) fn when(mut self, when: impl Into<String>) -> Self {
        self.0.when.get_or_insert_with(|| when.into());
        self
    }

    /// Fails the test.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is how a test fails")]
    pub(crate) fn raise(&self) -> ! {
        panic!("{self}")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &self.0;
        writeln!(f, "{}", parts.what)?;
        if let Some(when) = &parts.when {
            writeln!(f, "({when})")?;
        }
        for block in [&*parts.details, parts.advice] {
            let block = block.trim_end();
            if !block.is_empty() {
                writeln!(f, "\n  {}", block.replace('\n', "\n  "))?;
            }
        }
        write!(f, "\n{}", transcript(&parts.notes))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Failure {}
