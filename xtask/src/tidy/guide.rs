//! Pages of the guide: all are listed, all Rust blocks are compiled through the
//! crate `sterna`, and a block imports only crates that its page has added.

use std::collections::BTreeSet;

use regex::Regex;

use super::Complaint;
use super::page::{Page, pages};
use super::tree::Tree;

const SUMMARY: &str = "docs/SUMMARY.md";
/// Files of the crate `sterna` that include pages.
const COMPILED: [&str; 2] = ["crates/sterna/src/guide.rs", "crates/sterna/src/lib.rs"];
/// Folders whose pages are found by their code or their number.
const UNLISTED: [&str; 2] = ["docs/design/", "docs/errors/"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let Some(summary) = tree.text(SUMMARY) else {
        return Vec::new();
    };
    let included = COMPILED.map(|path| tree.text(path).unwrap_or_default());
    let mut complaints = Vec::new();
    for page in pages(tree) {
        let below = page.path.strip_prefix("docs/").unwrap_or(page.path);
        let is_listed = summary.contains(&format!("]({below})"));
        let is_free = UNLISTED.iter().any(|folder| page.path.starts_with(folder));
        if page.path.starts_with("docs/") && page.path != SUMMARY && !is_free && !is_listed {
            complaints.push(format!("{}: list it in {SUMMARY}", page.path));
        }
        if is_free || page.blocks("rust").next().is_none() {
            continue;
        }
        let name = page.path.rsplit('/').next().unwrap_or(page.path);
        let is_compiled = included.iter().any(|text| {
            text.contains(&format!("/{below}\")]")) || text.contains(&format!("../docs/{name}\")]"))
        });
        if !is_compiled {
            complaints.push(format!("{}: include it in {}", page.path, COMPILED[0]));
        }
        complaints.extend(imports(&page));
    }
    complaints
}

/// Crates that a block of the page names and the page does not add.
fn imports(page: &Page<'_>) -> Vec<Complaint> {
    let added = added(page);
    let used = Regex::new(r"(?m)^\s*(?:# )?(?:pub )?use ([a-z_0-9]+)(?:::|;)|#\[([a-z_0-9]+)::|\b(serde_json|tokio|tracing|thiserror|sterna_[a-z]+)::")
        .expect("the pattern is valid");
    let mut complaints = BTreeSet::new();
    for block in page.blocks("rust") {
        for found in used.captures_iter(block.text) {
            let name = (1..=3).find_map(|group| found.get(group));
            let Some(name) = name.map(|name| name.as_str()) else {
                continue;
            };
            if !STANDARD.contains(&name) && !added.contains(name) {
                complaints.insert(format!(
                    "{}:{}: the block uses `{name}`, which no `cargo add` line of the page names",
                    page.path, block.line
                ));
            }
        }
    }
    complaints.into_iter().collect()
}

/// Crates of the `cargo add` lines of a page.
fn added(page: &Page<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for block in page.blocks("console") {
        for line in block.text.lines() {
            let Some(rest) = line.trim().strip_prefix("cargo add ") else {
                continue;
            };
            let mut words = rest.split_whitespace();
            while let Some(word) = words.next() {
                match word {
                    "--features" | "--path" => {
                        words.next();
                    }
                    flag if flag.starts_with("--") => {}
                    name => {
                        names.insert(name.replace('-', "_"));
                    }
                }
            }
        }
    }
    names
}

/// Roots of paths that need no dependency.
const STANDARD: [&str; 6] = ["std", "core", "alloc", "self", "super", "crate"];

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "# A\n\n```console\ncargo add sterna --features sqlite\ncargo add tokio-util\n```\n\n```rust\nuse sterna::server;\nuse tokio_util::x;\n```\n";

    fn found(page: &str, summary: &str, guide: &str) -> Vec<Complaint> {
        check(&Tree::of(&[
            ("docs/guide/a.md", page),
            (SUMMARY, summary),
            (COMPILED[0], guide),
        ]))
    }

    #[test]
    fn a_page_is_listed_and_compiled() {
        let included = "#[doc = include_str!(\"../../../docs/guide/a.md\")]\nstruct A;";
        assert_eq!(found(BLOCK, "- [A](guide/a.md)", included), [""; 0]);
        assert_eq!(found(BLOCK, "", "").len(), 2);
    }

    #[test]
    fn a_block_names_only_crates_that_the_page_adds() {
        let page = BLOCK.replace("cargo add tokio-util\n", "");
        let included = "#[doc = include_str!(\"../../../docs/guide/a.md\")]\nstruct A;";
        let found = found(&page, "- [A](guide/a.md)", included);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`tokio_util`"), "{found:?}");
    }
}
