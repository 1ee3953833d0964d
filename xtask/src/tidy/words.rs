//! Words that have no place in what we ship.

use super::Complaint;
use super::tree::Tree;

/// A word and why it is refused. Split so that this file does not match itself.
const REFUSED: &[(&str, &str)] = &[
    (concat!("todo", "!("), "land it finished or not at all"),
    (
        concat!("unimplemented", "!("),
        "land it finished or not at all",
    ),
    (
        concat!("#[ig", "nore"),
        "a test that does not run proves nothing",
    ),
    (
        concat!("#[should_", "panic"),
        "assert on a typed error instead",
    ),
];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        for (number, line) in text.lines().enumerate() {
            for (word, why) in REFUSED {
                if line.contains(word) {
                    complaints.push(format!(
                        "{}:{}: `{word}`: {why}",
                        path.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    complaints
}
