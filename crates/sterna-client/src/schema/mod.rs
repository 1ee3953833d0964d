//! Validation of a result against the output schema of its tool.
//!
//! The schema comes from the server, so it may be a trap: one of a few lines
//! can ask for more work than there is time. Judging has a budget therefore,
//! and three outcomes: it fits, it does not, or it was not found out. Only what
//! certainly does not fit is refused.

mod dialect;
mod evaluate;
mod value;

use serde_json::Value;
use sterna_protocol::json::{RawJson, RawObject};
use thiserror::Error;

pub(crate) use self::dialect::{Dialect, UnknownDialect};
use self::evaluate::{Evaluator, Fit};

/// Output schema of a tool.
#[derive(Debug, PartialEq)]
pub(crate) struct OutputSchema {
    root: Value,
    dialect: Dialect,
}

impl OutputSchema {
    /// The schema as the server wrote it; `None` if it is no JSON that can be
    /// held.
    pub(crate) fn read(schema: &RawObject) -> Option<Result<Self, UnknownDialect>> {
        let root: Value = schema.decode().ok()?;
        let dialect = Dialect::of(root.get("$schema"));
        Some(dialect.map(|dialect| Self { root, dialect }))
    }

    /// Refuses content that does not fit.
    pub(crate) fn check(&self, content: Option<&RawJson>) -> Result<(), SchemaMismatch> {
        let content = content.ok_or(SchemaMismatch::Missing)?;
        let content: Value = content.decode().map_err(|_| SchemaMismatch::Content)?;
        // BASE-B16, BASE-B18: nothing is fetched, and nothing is taken for "anything goes".
        if evaluate::has_foreign_reference(&self.root) {
            return Err(SchemaMismatch::Foreign);
        }
        match Evaluator::new(&self.root, self.dialect).fits(&self.root, &content) {
            Fit::No => Err(SchemaMismatch::Content),
            Fit::Unknown => {
                tracing::debug!("a structured result was not checked to its end");
                Ok(())
            }
            Fit::Yes => Ok(()),
        }
    }
}

/// Reason why a result does not match the output schema.
#[derive(Debug, Error)]
pub(crate) enum SchemaMismatch {
    #[error("the structured content does not fit the tool's output schema")]
    Content,
    #[error("the tool's output schema refers to another document")]
    Foreign,
    #[error("the tool has an output schema, but the result has no structured content")]
    Missing,
}

#[cfg(test)]
mod tests;
