//! The guide as a book, where mdBook is installed.

use anyhow::Result;

use crate::shell::{command, finish, works};

/// Builds the book below `target/book`. `tidy` checks the pages and their links
/// on every machine; this shows that mdBook reads them too.
pub(crate) fn run() -> Result<()> {
    if !works("mdbook", &["--version"]) {
        println!("skipped: the book, install mdbook");
        return Ok(());
    }
    finish(&mut command("mdbook", &["build", "docs"]))
}
