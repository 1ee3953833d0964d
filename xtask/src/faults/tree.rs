//! A copy of the workspace in which every fault waits for its switch.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::list::Fault;
use crate::shell::command;

/// Copies the workspace at `root` to `to`, with all `faults` built in.
///
/// Files that are as they should be are left alone, so that only what changed
/// is built again.
pub(super) fn copy(root: &Path, to: &Path, faults: &[Fault]) -> Result<()> {
    let mut broken = broken(root, faults)?;
    let files = files(root)?;
    for file in &files {
        let contents = match broken.remove(file) {
            Some(text) => text.into_bytes(),
            None => std::fs::read(root.join(file)).with_context(|| format!("no {file}"))?,
        };
        let path = to.join(file);
        if std::fs::read(&path).is_ok_and(|before| before == contents) {
            continue;
        }
        std::fs::create_dir_all(path.parent().unwrap_or(to))?;
        std::fs::write(&path, contents).with_context(|| path.display().to_string())?;
    }
    remove_others(to, to, &files)
}

/// The sources with the faults in them, by their path below `root`.
pub(super) fn broken(root: &Path, faults: &[Fault]) -> Result<BTreeMap<String, String>> {
    let mut places: BTreeMap<String, Vec<Place<'_>>> = BTreeMap::new();
    let mut problems = String::new();
    for fault in faults {
        for edit in fault.edits() {
            let text = std::fs::read_to_string(root.join(&edit.file)).unwrap_or_default();
            let found: Vec<_> = text.match_indices(&edit.find).map(|(at, _)| at).collect();
            let &[at] = &*found else {
                let (name, file, count) = (&fault.name, &edit.file, found.len());
                writeln!(problems, "{name}: its snippet is {count} times in {file}")?;
                continue;
            };
            let place = Place {
                range: at..at + edit.find.len(),
                name: &fault.name,
                replacement: edit.replace,
            };
            places.entry(edit.file).or_default().push(place);
        }
    }
    ensure!(
        problems.is_empty(),
        "faults that have lost their place:\n{problems}"
    );
    let mut broken = BTreeMap::new();
    for (file, mut edits) in places {
        let text = std::fs::read_to_string(root.join(&file))?;
        edits.sort_by_key(|place| place.range.start);
        let text = splice(&text, &edits)?;
        broken.insert(file, text);
    }
    let folders: BTreeSet<_> = broken
        .keys()
        .filter_map(|file| crate_root(root, file))
        .collect();
    for library in folders {
        let text = match broken.get(&library) {
            Some(text) => text.clone(),
            None => std::fs::read_to_string(root.join(&library))?,
        };
        broken.insert(library, text + SWITCH);
    }
    Ok(broken)
}

/// Where a fault goes, and what is there then.
struct Place<'a> {
    range: Range<usize>,
    name: &'a str,
    replacement: String,
}

fn splice(text: &str, places: &[Place<'_>]) -> Result<String> {
    let (mut spliced, mut at) = (String::new(), 0);
    for place in places {
        if place.range.start < at {
            bail!("{}: its snippet is also another fault's", place.name);
        }
        spliced.push_str(&text[at..place.range.start]);
        let is_on = format!("crate::is_fault_on(\"{}\")", place.name);
        spliced.push_str(&place.replacement.replace("FAULT", &is_on));
        at = place.range.end;
    }
    spliced.push_str(&text[at..]);
    Ok(spliced)
}

/// The root of the crate that `file` belongs to: `lib.rs`, or `main.rs` of a
/// crate without a library.
fn crate_root(root: &Path, file: &str) -> Option<String> {
    let (folder, _) = file.split_once("/src/")?;
    let candidates = ["lib", "main"].map(|name| format!("{folder}/src/{name}.rs"));
    candidates
        .into_iter()
        .find(|file| root.join(file).is_file())
}

/// What git knows of, and what it would if it were asked.
fn files(root: &Path) -> Result<BTreeSet<String>> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let listed = command("git", &list).output().context("git is missing")?;
    ensure!(listed.status.success(), "git cannot list the files");
    let listed = String::from_utf8(listed.stdout)?;
    let present = |file: &&str| root.join(file).is_file();
    Ok(listed.lines().filter(present).map(str::to_owned).collect())
}

fn remove_others(top: &Path, folder: &Path, files: &BTreeSet<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(top, &path, files)?;
            // Cargo takes a folder below `crates` for a crate, empty or not.
            if std::fs::read_dir(&path)?.next().is_none() {
                std::fs::remove_dir(&path)?;
            }
            continue;
        }
        let name = path.strip_prefix(top)?.to_string_lossy();
        if !files.contains(&*name) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Ends the root of every crate that has a fault.
const SWITCH: &str = r#"
pub(crate) fn is_fault_on(name: &str) -> bool {
    static ON: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let on = ON.get_or_init(|| std::env::var("STERNA_FAULT").ok());
    on.as_deref() == Some(name)
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::list;
    use crate::shell::workspace_root;

    #[test]
    fn every_fault_has_its_place_in_the_source() {
        let root = workspace_root();
        let faults = list::read(&root).unwrap();
        assert!(faults.len() >= 40, "only {} faults", faults.len());
        broken(&root, &faults).unwrap();
    }

    #[test]
    fn a_switch_stands_where_the_replacement_says_so() {
        let place = |range, replacement: &str| Place {
            range,
            name: "off-by-one",
            replacement: replacement.to_owned(),
        };
        let spliced = splice("if (a+b) {}", &[place(4..7, "FAULT || a")]).unwrap();
        assert_eq!(spliced, "if (crate::is_fault_on(\"off-by-one\") || a) {}");
        let edits = [place(0..3, "FAULT"), place(2..4, "FAULT")];
        assert!(splice("abcd", &edits).is_err());
    }
}
