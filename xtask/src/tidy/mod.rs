//! House rules that neither the compiler nor clippy can check.

mod arrows;
mod codes;
mod dependencies;
mod glossary;
mod guide;
mod ledger;
mod links;
mod manifests;
mod modules;
mod page;
mod sentences;
mod sizes;
mod tree;
mod words;

use anyhow::{Result, bail};

use crate::shell::workspace_root;
use tree::Tree;

/// One broken rule: where, and what to do about it.
type Complaint = String;

pub(crate) fn run() -> Result<()> {
    let root = workspace_root();
    let tree = Tree::read(&root)?;
    let mut complaints = Vec::new();
    complaints.extend(arrows::check(&root)?);
    complaints.extend(manifests::check(&tree));
    complaints.extend(modules::check(&tree));
    complaints.extend(dependencies::check(&tree));
    complaints.extend(sizes::check(&tree));
    complaints.extend(words::check(&tree));
    complaints.extend(sentences::check(&tree));
    complaints.extend(tree::stray_tests(&tree));
    complaints.extend(ledger::check(&tree));
    complaints.extend(codes::check(&tree));
    complaints.extend(links::check(&tree, &root));
    complaints.extend(guide::check(&tree));
    complaints.extend(glossary::check(&tree));
    if complaints.is_empty() {
        return Ok(());
    }
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    bail!("{} house rule(s) broken", complaints.len());
}
