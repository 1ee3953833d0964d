//! Every crate takes its lints and its versions from the workspace.

use super::Complaint;
use super::tree::{MANIFEST, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.with_extension("toml") {
        let is_of_a_crate = path.ends_with(MANIFEST) && path.components().count() > 1;
        if !is_of_a_crate || path.starts_with("fuzz") {
            continue;
        }
        if !text.contains("[lints]\nworkspace = true") {
            complaints.push(format!(
                "{}: add `[lints] workspace = true`",
                path.display()
            ));
        }
        for line in versions_of_its_own(text) {
            complaints.push(format!(
                "{}: `{line}` names a version or path; put it into [workspace.dependencies]",
                path.display()
            ));
        }
    }
    complaints
}

fn versions_of_its_own(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
            return false;
        }
        inside && line.contains('=') && !line.contains("workspace = true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_outside_the_workspace_table_is_refused() {
        let manifest =
            "[dependencies]\nserde.workspace = true\nrand = \"0.9\"\n\n[lints]\nworkspace = true\n";
        let complaints = check(&Tree::of(&[("crates/a/Cargo.toml", manifest)]));
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("rand"));
    }
}
