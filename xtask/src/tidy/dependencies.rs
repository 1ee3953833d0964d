//! Every dependency of the workspace has a row that says why, and every row a
//! dependency.

use std::collections::BTreeSet;

use regex::Regex;

use super::Complaint;
use super::tree::{MANIFEST, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let (Some(manifest), Some(page)) = (tree.text(MANIFEST), tree.text(PAGE)) else {
        return vec![format!("{MANIFEST} or {PAGE} is missing")];
    };
    let (declared, explained) = (declared(manifest), explained(page));
    let undocumented = declared.difference(&explained).map(|name| {
        format!("{MANIFEST}: `{name}` has no row in {PAGE}; add one that says why it is there")
    });
    let gone = explained.difference(&declared).map(|name| {
        format!("{PAGE}: `{name}` is no dependency of the workspace; remove it from its row")
    });
    undocumented.chain(gone).collect()
}

/// The names in `[workspace.dependencies]`, without crates of our own.
fn declared(manifest: &str) -> BTreeSet<&str> {
    let table = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    table
        .filter(|line| !line.contains("path = "))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .collect()
}

/// The names in the first column of the tables of a page.
fn explained(page: &str) -> BTreeSet<&str> {
    let name = Regex::new("`([^`]+)`").expect("the pattern is valid");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| {
            name.captures_iter(cell)
                .map(|found| found.extract::<1>().1[0])
        })
        .collect()
}

const PAGE: &str = "docs/dependencies.md";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_a_row_and_a_row_without_a_dependency_are_reported() {
        let manifest = "[workspace]\n[workspace.dependencies]\nours = { path = \"a\" }\n\
            serde = \"1\"\nurl = { version = \"2\" }\n\n[profile.dev]\ndebug = 1\n";
        let page = "| crate | why |\n|---|---|\n| `serde`, `gone` | with `other` in it |\n";
        let tree = Tree::of(&[(MANIFEST, manifest), (PAGE, page)]);
        let complaints = check(&tree);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("`url`"), "{complaints:?}");
        assert!(complaints[1].contains("`gone`"), "{complaints:?}");
    }
}
