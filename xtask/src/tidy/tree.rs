//! The files of the workspace, read once, and the rule about test files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Complaint;

/// Every text file that the rules look at, by its path below the root.
pub(super) struct Tree {
    files: BTreeMap<PathBuf, String>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for top in ["crates", "tools", "examples", "xtask", "docs", "fuzz"] {
            let folder = root.join(top);
            if folder.is_dir() {
                collect(root, &folder, &mut files)?;
            }
        }
        for name in [MANIFEST, "README.md"] {
            let path = root.join(name);
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            files.insert(name.into(), text);
        }
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()))
            .collect();
        Self { files }
    }

    /// Files whose name ends in `.extension`, in path order.
    pub(super) fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&Path, &str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.extension().is_some_and(|e| e == extension))
            .map(|(path, text)| (path.as_path(), text.as_str()))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(Path::new(path)).map(String::as_str)
    }
}

/// The manifest of the workspace.
pub(super) const MANIFEST: &str = "Cargo.toml";

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        if path.is_dir() {
            if !matches!(name, "target" | "node_modules" | "corpus" | "artifacts") {
                collect(root, &path, files)?;
            }
        } else if matches!(
            path.extension().and_then(|e| e.to_str()),
            Some("rs" | "toml" | "md")
        ) {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let below = path.strip_prefix(root).unwrap_or(&path).to_owned();
            files.insert(below, text);
        }
    }
    Ok(())
}

/// Test files that no `mod` line reaches: cargo never compiles them.
pub(super) fn stray_tests(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, _) in tree.with_extension("rs") {
        let parts: Vec<_> = path.iter().filter_map(|p| p.to_str()).collect();
        let [top @ ("crates" | "tools"), krate, "tests", rest @ ..] = parts.as_slice() else {
            continue;
        };
        match rest {
            ["it", "main.rs"] | ["compile_fail", _] => {}
            ["it", inner @ ..] => {
                let declared = declares(tree, &format!("{top}/{krate}"), inner);
                if !declared {
                    complaints.push(format!(
                        "{} is never compiled: no `mod` line names it",
                        path.display()
                    ));
                }
            }
            _ => complaints.push(format!(
                "{} belongs into {top}/{krate}/tests/it/, the one integration binary",
                path.display()
            )),
        }
    }
    complaints
}

fn declares(tree: &Tree, folder: &str, inner: &[&str]) -> bool {
    let (file, folders) = inner.split_last().expect("a path has a file name");
    let stem = file.trim_end_matches(".rs");
    let (name, parents) = if stem == "mod" {
        match folders.split_last() {
            Some((name, parents)) => (*name, parents),
            None => return false,
        }
    } else {
        (stem, folders)
    };
    let door = if parents.is_empty() {
        "main.rs".to_owned()
    } else {
        format!("{}/mod.rs", parents.join("/"))
    };
    let line = format!("mod {name};");
    tree.text(&format!("{folder}/tests/it/{door}"))
        .is_some_and(|text| {
            text.lines()
                .any(|l| l.trim_start_matches("pub(crate) ").trim() == line)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_file_without_a_mod_line_is_stray() {
        let tree = Tree::of(&[
            ("crates/a/tests/it/main.rs", "mod seen;\nmod deep;"),
            ("crates/a/tests/it/seen.rs", ""),
            ("crates/a/tests/it/unseen.rs", ""),
            ("crates/a/tests/it/deep/mod.rs", "mod inner;"),
            ("crates/a/tests/it/deep/inner.rs", ""),
            ("crates/a/tests/alone.rs", ""),
        ]);
        let complaints = stray_tests(&tree);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("alone.rs"));
        assert!(complaints[1].contains("unseen.rs"));
    }
}
