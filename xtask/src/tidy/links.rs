//! Links of the pages: the file is there, and so is the heading.

use std::path::{Component, Path, PathBuf};

use regex::Regex;

use super::Complaint;
use super::page::{Page, pages};
use super::tree::Tree;

pub(super) fn check(tree: &Tree, root: &Path) -> Vec<Complaint> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("the pattern is valid");
    let code = Regex::new(r"`[^`]*`").expect("the pattern is valid");
    let mut complaints = Vec::new();
    for page in pages(tree) {
        for (line, text) in page.prose() {
            // The text of a link may be code; its address is not.
            let text = code.replace_all(text, "x");
            for found in link.captures_iter(&text) {
                if let Some(why) = broken(tree, root, &page, &found[1]) {
                    complaints.push(format!("{}:{line}: {}: {why}", page.path, &found[1]));
                }
            }
        }
    }
    complaints
}

/// The reason why a reader cannot follow `target`.
fn broken(tree: &Tree, root: &Path, page: &Page<'_>, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = Path::new(page.path)
        .parent()
        .unwrap_or_else(|| Path::new(""));
    let path = match file {
        "" => PathBuf::from(page.path),
        file => plain(&folder.join(file)),
    };
    let Some(text) = path.to_str().and_then(|path| tree.text(path)) else {
        let is_there = root.join(&path).exists();
        return (!is_there).then_some("there is no such file");
    };
    let is_there = heading.is_empty() || anchors(path.to_str()?, text).iter().any(|a| a == heading);
    (!is_there).then_some("the page has no such heading")
}

/// The anchors of a page's headings, as GitHub and mdBook write them.
fn anchors(path: &str, text: &str) -> Vec<String> {
    let page = Page { path, text };
    let headings = page.prose().into_iter();
    let headings = headings.filter_map(|(_, line)| line.strip_prefix('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading.to_lowercase();
            let kept = kept.chars().filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                c => c.is_alphanumeric().then_some(c),
            });
            kept.collect()
        })
        .collect()
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_page_and_a_heading() {
        let found = check(
            &Tree::of(&[
                (
                    "docs/guide/a.md",
                    "[b](../b.md#a-thing-or-two) [c](c.md) [d](../b.md#none) [`e`](https://x.y)\n```\n[f](f.md)\n```\n",
                ),
                ("docs/b.md", "# B\n\n## A thing, or two\n"),
            ]),
            Path::new("/nonexistent"),
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("c.md"), "{found:?}");
        assert!(found[1].contains("#none"), "{found:?}");
    }
}
