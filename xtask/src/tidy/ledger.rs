//! The spec ledger: ids are unique, tests exist, and code cites real ids.
//!
//! A row of `docs/spec.md` is `| ID | level | rule | where | proof |`. The
//! proof is the names of tests in backticks, or `open: <room>` for a rule
//! whose room is not built, or `n/a: <why>` for one that does not bind us.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::Complaint;
use super::tree::Tree;

const LEDGER: &str = "docs/spec.md";

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let Some(ledger) = tree.text(LEDGER) else {
        return vec![format!("{LEDGER} is missing")];
    };
    let tests = test_names(tree);
    let mut complaints = Vec::new();
    let mut rows = BTreeMap::new();
    for (number, line) in ledger.lines().enumerate() {
        let Some(row) = Row::parse(line) else {
            continue;
        };
        let place = format!("{LEDGER}:{}", number + 1);
        if rows.insert(row.id.to_owned(), ()).is_some() {
            complaints.push(format!("{place}: {} stands twice", row.id));
        }
        complaints.extend(row.complaints(&place, &tests));
    }
    complaints.extend(unknown_citations(tree, &rows));
    complaints
}

struct Row<'a> {
    id: &'a str,
    proof: &'a str,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let (id, rest) = line.split_once('|')?;
        let id = id.trim();
        if !id_pattern().is_match(id) || id_pattern().find(id)?.len() != id.len() {
            return None;
        }
        let proof = rest.rsplit('|').next()?.trim();
        Some(Self { id, proof })
    }

    fn complaints(&self, place: &str, tests: &BTreeSet<String>) -> Vec<Complaint> {
        let says_why = |prefix| {
            self.proof
                .strip_prefix(prefix)
                .is_some_and(|why: &str| !why.trim().is_empty())
        };
        if says_why("open:") || says_why("n/a:") {
            return Vec::new();
        }
        let named: Vec<_> = self.proof.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            return vec![format!(
                "{place}: {} names no test; write `test_name`, `open: room` or `n/a: why`",
                self.id
            )];
        }
        named
            .into_iter()
            .filter(|name| !tests.contains(name.rsplit("::").next().unwrap_or(name)))
            .map(|name| {
                format!(
                    "{place}: {} names the test {name}, which does not exist",
                    self.id
                )
            })
            .collect()
    }
}

/// An id such as `MRTR-S5` or `HTTP-12`.
fn id_pattern() -> &'static Regex {
    static PATTERN: std::sync::LazyLock<Regex> = std::sync::LazyLock::new(|| {
        Regex::new(r"\b[A-Z]{2,8}-[A-Z]{0,2}[0-9]{1,3}\b").expect("the pattern is valid")
    });
    &PATTERN
}

fn test_names(tree: &Tree) -> BTreeSet<String> {
    let function = Regex::new(r"fn ([a-z0-9_]+)").expect("the pattern is valid");
    let mut names = BTreeSet::new();
    for (_, text) in tree.with_extension("rs") {
        let mut armed = false;
        for line in text.lines() {
            let line = line.trim();
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                armed = true;
            } else if armed && let Some(found) = function.captures(line) {
                names.insert(found[1].to_owned());
                armed = false;
            }
        }
    }
    names
}

/// Ids that a comment cites although the ledger has no such row.
fn unknown_citations(tree: &Tree, rows: &BTreeMap<String, ()>) -> Vec<Complaint> {
    let families: BTreeSet<_> = rows.keys().filter_map(|id| id.split('-').next()).collect();
    let mut complaints = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        if !path.starts_with("crates") && !path.starts_with("tools") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else {
                continue;
            };
            for found in id_pattern().find_iter(comment) {
                let id = found.as_str();
                let ours = id.split('-').next().is_some_and(|f| families.contains(f));
                if ours && !rows.contains_key(id) {
                    complaints.push(format!(
                        "{}:{}: {id} is not in {LEDGER}",
                        path.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_must_name_a_test_that_exists() {
        let ledger = "| MRTR-S1 | MUST | a | b | `here` |\n\
                      | MRTR-S2 | MUST | a | b | `gone` |\n\
                      | MRTR-S3 | MUST | a | b |  |\n\
                      | MRTR-S4 | MUST | a | b | open: server |\n\
                      | MRTR-S4 | MUST | a | b | n/a: not ours |\n";
        let code = "#[test]\nfn here() {}\n// MRTR-S9: cited\n";
        let tree = Tree::of(&[("docs/spec.md", ledger), ("crates/a/src/x.rs", code)]);
        let complaints = check(&tree);
        assert_eq!(complaints.len(), 4, "{complaints:#?}");
    }
}
