//! Every diagnostic code has a page, and every page a code.

use std::collections::BTreeSet;

use regex::Regex;

use super::Complaint;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let code = Regex::new(r"\bMR[0-9]{4}\b").expect("the pattern is valid");
    let mut used = BTreeSet::new();
    for (path, text) in tree.with_extension("rs") {
        if path.starts_with("crates") {
            used.extend(code.find_iter(text).map(|m| m.as_str().to_owned()));
        }
    }
    let mut complaints = Vec::new();
    for code in &used {
        if tree.text(&format!("docs/errors/{code}.md")).is_none() {
            complaints.push(format!("{code} has no page: write docs/errors/{code}.md"));
        }
    }
    for (path, _) in tree.with_extension("md") {
        let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else {
            continue;
        };
        if path.starts_with("docs/errors") && code.is_match(stem) && !used.contains(stem) {
            complaints.push(format!("{}: no code says {stem}", path.display()));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_without_a_page_and_a_page_without_a_code_are_reported() {
        let tree = Tree::of(&[
            (
                "crates/a/src/e.rs",
                concat!("\"MR", "0001\" \"MR", "0002\""),
            ),
            (concat!("docs/errors/MR", "0001.md"), ""),
            (concat!("docs/errors/MR", "0003.md"), ""),
        ]);
        let complaints = check(&tree);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
    }
}
