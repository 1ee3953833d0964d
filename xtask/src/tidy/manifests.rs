//! Every crate takes its lints and its versions from the workspace, and is
//! either ready to be published or marked as not published. The pages name the
//! oldest compiler that the workspace does.

use std::path::Path;

use super::Complaint;
use super::tree::{MANIFEST, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.with_extension("toml") {
        let is_of_a_crate = path.ends_with(MANIFEST) && path.components().count() > 1;
        // A workspace of its own cannot take anything from ours.
        if !is_of_a_crate || text.lines().any(|line| line == "[workspace]") {
            continue;
        }
        if !text.contains("[lints]\nworkspace = true") {
            complaints.push(format!(
                "{}: add `[lints] workspace = true`",
                path.display()
            ));
        }
        complaints.extend(unready(tree, path, text));
        for line in versions_of_its_own(text) {
            complaints.push(format!(
                "{}: `{line}` names a version or path; put it into [workspace.dependencies]",
                path.display()
            ));
        }
    }
    complaints.extend(other_compiler(tree));
    complaints
}

/// Pages for newcomers that do not name the compiler which the workspace needs.
fn other_compiler(tree: &Tree) -> Vec<Complaint> {
    let needed = tree.text(MANIFEST).and_then(|text| {
        let needed = text.split("\nrust-version = \"").nth(1)?;
        needed.split('"').next()
    });
    let Some(needed) = needed else {
        return Vec::new();
    };
    let pages = ["README.md", "docs/getting-started.md"].into_iter();
    let pages = pages.filter_map(|page| Some((page, tree.text(page)?)));
    let wrong = pages.filter(|(_, text)| !text.contains(&format!("Rust {needed}")));
    wrong
        .map(|(page, _)| format!("{page}: say that Rust {needed} is needed"))
        .collect()
}

/// What a manifest lacks: crates below `crates/` are published, others are not.
fn unready(tree: &Tree, path: &Path, text: &str) -> Option<Complaint> {
    let is_published = !text.contains("\npublish = false\n");
    let readme = path.with_file_name("README.md");
    let wrong = match (path.starts_with("crates"), is_published) {
        (true, false) => "a crate below `crates/` is published; move it to `tools/`",
        (false, true) => "add `publish = false`",
        (false, false) => return None,
        (true, true) if !text.contains("\ndescription = ") => "add a `description`",
        (true, true) if !text.contains("\ncategories = [") => "add `categories` of crates.io",
        (true, true) if !text.contains(DOCUMENTED) => {
            "add `all-features = true` under [package.metadata.docs.rs]"
        }
        (true, true) if tree.text(readme.to_str()?).is_none() => "add a README.md beside it",
        (true, true) => return None,
    };
    Some(format!("{}: {wrong}", path.display()))
}

/// Has docs.rs show what every feature adds.
const DOCUMENTED: &str = "[package.metadata.docs.rs]\nall-features = true";

fn versions_of_its_own(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
            return false;
        }
        // The crate itself, with features for its tests, or the facade, for the
        // examples of the macros: with a version, neither could be packaged
        // before it is published.
        let is_unversioned = [".", "../sterna"]
            .iter()
            .any(|path| line.contains(&format!("{{ path = \"{path}\"")));
        inside && line.contains('=') && !line.contains("workspace = true") && !is_unversioned
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_outside_the_workspace_table_is_refused() {
        let manifest = "[package]\npublish = false\n\n\
            [dependencies]\nserde.workspace = true\nrand = \"0.9\"\nme = { path = \".\" }\n\n\
            [lints]\nworkspace = true\n";
        let complaints = check(&Tree::of(&[("tools/a/Cargo.toml", manifest)]));
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("rand"));
    }

    #[test]
    fn newcomers_are_told_the_compiler_they_need() {
        let manifest = "[workspace.package]\nrust-version = \"1.95\"\n";
        let complaints = check(&Tree::of(&[
            ("Cargo.toml", manifest),
            ("README.md", "You need Rust 1.95."),
            ("docs/getting-started.md", "You need Rust."),
        ]));
        assert_eq!(
            complaints,
            ["docs/getting-started.md: say that Rust 1.95 is needed"]
        );
    }

    #[test]
    fn a_crate_is_ready_to_be_published_or_marked_as_not_published() {
        let bare = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n";
        let described = bare.replace("\n\n", "\ndescription = \"A\"\n\n");
        let filed = described.replace("\n\n", "\ncategories = [\"encoding\"]\n\n");
        let whole = format!("{filed}\n{DOCUMENTED}\n");
        let complaints = check(&Tree::of(&[
            ("crates/a/Cargo.toml", bare),
            ("crates/b/Cargo.toml", &whole),
            ("crates/c/Cargo.toml", &whole),
            ("crates/c/README.md", "# c"),
            ("crates/e/Cargo.toml", &described),
            ("crates/f/Cargo.toml", &filed),
            ("tools/d/Cargo.toml", bare),
        ]));
        let [a, b, e, f, d] = &complaints[..] else {
            panic!("{complaints:?}");
        };
        assert!(e.contains("crates/e") && e.contains("categories"), "{e}");
        assert!(f.contains("crates/f") && f.contains("docs.rs"), "{f}");
        assert!(a.contains("crates/a") && a.contains("description"), "{a}");
        assert!(b.contains("crates/b") && b.contains("README"), "{b}");
        assert!(d.contains("tools/d") && d.contains("publish"), "{d}");
    }
}
