//! Sentences of the shipped crates: how a doc comment begins, and words that
//! hide an actor.

use std::ffi::OsStr;
use std::path::Path;

use regex::Regex;

use super::Complaint;
use super::tree::Tree;

/// Lines with a vague actor that all crates may have together.
const LIMIT: usize = 30;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = openings(tree);
    complaints.extend(vague_actors(tree));
    complaints
}

/// Doc comments that begin with a question word instead of a noun or a verb.
fn openings(tree: &Tree) -> Vec<Complaint> {
    let opening = r"^\s*//[/!] (What|How|Who|Whether|Why|Where)\b";
    let opening = Regex::new(opening).expect("the pattern is valid");
    let mut complaints = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        if !is_shipped(path) {
            continue;
        }
        let mut follows = false;
        for (number, line) in text.lines().enumerate() {
            if line.starts_with("#[cfg(test)]") {
                break;
            }
            // A question is the text of a form, which a person reads.
            if !follows && opening.is_match(line) && !line.ends_with('?') {
                complaints.push(format!(
                    "{}:{}: begin the doc comment with a noun or a verb, not with a question word",
                    path.display(),
                    number + 1
                ));
            }
            follows = line.trim_start().starts_with("//");
        }
    }
    complaints
}

/// More lines than [`LIMIT`] that name no actor, tests included.
fn vague_actors(tree: &Tree) -> Option<Complaint> {
    // Split so that this file does not match itself.
    let words = concat!(r"(?i-u)\b(no", "body|some", "body|who", r"ever)\b");
    let words = Regex::new(words).expect("the pattern is valid");
    let mut places = Vec::new();
    for (path, text) in ["rs", "toml", "md"]
        .into_iter()
        .flat_map(|extension| tree.with_extension(extension))
    {
        if !path.starts_with("crates") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            if words.is_match(line) {
                places.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    (places.len() > LIMIT).then(|| {
        format!(
            "{} lines name no actor (limit {LIMIT}); write the client, the worker, the caller: {}",
            places.len(),
            places.join(", ")
        )
    })
}

fn is_shipped(path: &Path) -> bool {
    let is_of_tests = |part: &OsStr| part == "tests" || part == "tests.rs" || part == "benches";
    path.starts_with("crates") && !path.iter().any(is_of_tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_comment_begins_with_no_question_word() {
        let found = check(&Tree::of(&[
            ("crates/a/src/lib.rs", "//! How it works.\n\nmod one;"),
            (
                "crates/a/src/one.rs",
                "/// A line.\n/// What follows it.\nstruct A;",
            ),
            (
                "crates/a/src/two.rs",
                "struct A {\n    /// Whether it is.\n    a: bool,\n}",
            ),
            (
                "crates/a/src/three.rs",
                "/// Who are you?\n/// Whatever.\nstruct A;",
            ),
        ]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/lib.rs:1:"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/two.rs:2:"), "{found:?}");
    }

    #[test]
    fn tests_and_tools_may_begin_as_they_like() {
        let found = check(&Tree::of(&[
            (
                "crates/a/src/one.rs",
                "#[cfg(test)]\nmod tests {\n/// What is.\n}",
            ),
            ("crates/a/src/two/tests.rs", "//! What is."),
            ("crates/a/tests/it/main.rs", "//! What is."),
            ("tools/a/src/lib.rs", "//! What is."),
        ]));
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn vague_actors_are_counted_over_all_crates() {
        let line = concat!("// No", "body knows.\n");
        let (half, rest) = (line.repeat(LIMIT / 2), line.repeat(LIMIT - LIMIT / 2));
        let in_tools = line.repeat(LIMIT);
        let mut files = vec![
            ("crates/a/src/one.rs", half.as_str()),
            ("crates/b/tests/it/main.rs", rest.as_str()),
            ("tools/a/src/main.rs", in_tools.as_str()),
        ];
        assert_eq!(check(&Tree::of(&files)), [""; 0]);
        files.push((
            "crates/c/Cargo.toml",
            concat!("description = \"for who", "ever\""),
        ));
        let found = check(&Tree::of(&files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("31 lines"), "{found:?}");
    }
}
