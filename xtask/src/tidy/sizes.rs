//! One idea per file: the length at which a file must be split.

use super::Complaint;
use super::tree::Tree;

/// Lines of code, tests not counted, above which a file holds two ideas.
const LIMIT: usize = 600;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        let is_test = path
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        let lines = text
            .lines()
            .take_while(|line| line.trim() != "#[cfg(test)]")
            .count();
        if !is_test && lines > LIMIT {
            complaints.push(format!(
                "{}: {lines} lines without tests, split it at an idea (limit {LIMIT})",
                path.display()
            ));
        }
        if path.ends_with("src/lib.rs")
            && text
                .lines()
                .any(|line| line.starts_with("pub fn ") || line.starts_with("fn "))
        {
            complaints.push(format!(
                "{}: lib.rs is the front door, move the function into a module",
                path.display()
            ));
        }
    }
    complaints
}
