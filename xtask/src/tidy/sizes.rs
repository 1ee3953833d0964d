//! One idea per file: the length at which a file must be split, and the one
//! below which it belongs to its user.

use std::path::Path;

use super::Complaint;
use super::tree::Tree;

/// Lines of code, tests not counted, above which a file holds two ideas.
const LIMIT: usize = 600;

/// Lines, tests not counted, below which a shipped file that is no front door
/// is a part of another one.
const LEAST: usize = 30;

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
        if !is_test && lines < LEAST && is_part(path) {
            complaints.push(format!(
                "{}: {lines} lines without tests, fold it into its user (least {LEAST})",
                path.display()
            ));
        }
        // The compiler wants macros at the root of their crate.
        if path.ends_with("src/lib.rs")
            && !text.contains("#[proc_macro_attribute]")
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

/// A shipped source file that is no front door.
fn is_part(path: &Path) -> bool {
    let is_door = ["lib.rs", "main.rs", "mod.rs"].map(|door| path.ends_with(door));
    let is_shipped = path.starts_with("crates") && path.iter().any(|part| part == "src");
    is_shipped && !is_door.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_neither_too_long_nor_too_short() {
        let (long, short) = ("x\n".repeat(LIMIT + 1), "x\n".repeat(LEAST - 1));
        let tested = format!("{short}#[cfg(test)]\n{long}");
        let found = check(&Tree::of(&[
            ("crates/a/src/long.rs", long.as_str()),
            ("crates/a/src/mod.rs", short.as_str()),
            ("crates/a/src/short.rs", tested.as_str()),
            ("crates/a/src/tests.rs", short.as_str()),
            ("crates/a/tests/it/short.rs", short.as_str()),
            ("tools/a/src/short.rs", short.as_str()),
        ]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("crates/a/src/long.rs: 601"),
            "{found:?}"
        );
        assert!(
            found[1].starts_with("crates/a/src/short.rs: 29"),
            "{found:?}"
        );
    }
}
