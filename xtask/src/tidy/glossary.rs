//! The words of the glossary: on every page of the guide, the first use of each
//! is a link to its explanation, or is the explanation and stands in bold.

use std::ops::Range;

use regex::Regex;

use super::Complaint;
use super::page::{Page, pages};
use super::tree::Tree;

const GLOSSARY: &str = "docs/guide/glossary.md";

/// A word, how it is found, and the heading of its explanation.
const WORDS: [(&str, &str); 7] = [
    ("request state", r"\brequest states?\b"),
    ("round", r"\brounds?\b"),
    ("flow", r"\bflows?\b"),
    ("step", r"\bsteps?\b"),
    ("journal", r"\bjournals?\b"),
    ("store", r"\bstores?\b"),
    ("ledger", r"\bledgers?\b"),
];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for page in pages(tree) {
        let is_guide = page.path.starts_with("docs/guide/") || page.path == "README.md";
        if is_guide && page.path != GLOSSARY {
            complaints.extend(unexplained(&page));
        }
    }
    if let Some(text) = tree.text(GLOSSARY) {
        let missing = WORDS.iter().filter(|(word, _)| {
            let explained = format!("## {word}\n");
            !text.contains(&explained)
        });
        complaints.extend(missing.map(|(word, _)| format!("{GLOSSARY}: explain `{word}`")));
    }
    complaints
}

fn unexplained(page: &Page<'_>) -> Vec<Complaint> {
    // A verb or a phrase in which the word means something else.
    let other = Regex::new(r"(?i-u)\bround[ -]trips?\b|\bround robin\b|\bsecret stores?\b|\bstores? it\b|\bstep by step\b|\bstep up\b")
        .expect("the pattern is valid");
    let code = Regex::new(r"`[^`]*`").expect("the pattern is valid");
    let explained = Regex::new(r"\[([^\]]*)\]\([^)]*glossary\.md#[a-z-]+\)|\*\*([^*]+)\*\*")
        .expect("the pattern is valid");
    let address = Regex::new(r"\]\([^)]*\)").expect("the pattern is valid");
    let mut complaints = Vec::new();
    for (word, pattern) in WORDS {
        let pattern = Regex::new(&format!("(?i-u){pattern}")).expect("the pattern is valid");
        let first = page.prose().into_iter().find_map(|(line, text)| {
            if text.starts_with('#') {
                return None;
            }
            let mut text = text.to_owned();
            for hidden in [&code, &other] {
                text = blank(hidden, &text);
            }
            let good = explained.find_iter(&text).map(|found| found.range());
            let good: Vec<Range<usize>> = good.collect();
            let visible = blank(&address, &text);
            let found = pattern.find(&visible)?;
            let is_good = good.iter().any(|good| good.contains(&found.start()));
            Some((line, is_good))
        });
        if let Some((line, false)) = first {
            complaints.push(format!(
                "{}:{line}: the first `{word}` is neither a link to {GLOSSARY} nor an explanation in bold",
                page.path
            ));
        }
    }
    complaints
}

/// The text with blanks in place of what `hidden` finds, so that places stay.
fn blank(hidden: &Regex, text: &str) -> String {
    let blanks = |found: &regex::Captures<'_>| " ".repeat(found[0].len());
    hidden.replace_all(text, blanks).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_use_of_a_word_is_a_link_or_an_explanation() {
        let page = "# Round\n\nA **flow** is a call. [Request state](glossary.md#request-state) travels. `a store`, a round trip.\nA round of the flow. A [step](../x.md).\n";
        let found = check(&Tree::of(&[("docs/guide/a.md", page), ("docs/b.md", page)]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("a.md:4: the first `round`"), "{found:?}");
        assert!(found[1].contains("`step`"), "{found:?}");
    }
}
