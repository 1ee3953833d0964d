//! The files that a program is made of, and when they were written.
//!
//! They are looked at, not watched by the system: a project has some hundred
//! files, which takes a millisecond, and this works on every file system, in
//! containers and over a network, where the system tells of no changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files with the time at which each was written, and its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, (Option<SystemTime>, u64)>,
}

impl Snapshot {
    /// Adds a file, if it is there.
    pub(super) fn add(&mut self, path: &Path) {
        if let Ok(found) = fs::metadata(path)
            && found.is_file()
        {
            let stamp = (found.modified().ok(), found.len());
            self.files.insert(path.to_owned(), stamp);
        }
    }

    /// Adds the files in Rust below `folder`.
    pub(super) fn add_rust_files(&mut self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.add_rust_files(&path),
                Ok(_) if path.extension().is_some_and(|it| it == "rs") => self.add(&path),
                Ok(_) | Err(_) => {}
            }
        }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Name of the first file that `later` has otherwise.
    pub(super) fn difference(&self, later: &Self) -> Option<String> {
        let mut gone = self.files.keys();
        let gone = gone.find(|path| !later.files.contains_key(*path));
        let mut other = later.files.iter();
        let other = other.find(|(path, stamp)| self.files.get(*path) != Some(stamp));
        Some(short(gone.or_else(|| other.map(|(path, _)| path))?))
    }

    /// Name of a file that has changed while a build ran that began at `begun`,
    /// after this snapshot. `later` may have files that only the build has named.
    pub(super) fn change_during_build(&self, later: &Self, begun: SystemTime) -> Option<String> {
        let mut files = later.files.iter();
        let changed = files.find(|(path, stamp)| match self.files.get(*path) {
            // Cargo writes it itself.
            _ if path.ends_with("Cargo.lock") => false,
            Some(before) => before != *stamp,
            None => stamp.0.is_some_and(|written| written > begun),
        });
        changed.map(|(path, _)| short(path))
    }
}

/// The sources of a program, from the file in which the compiler lists them:
/// `program: source source`, with `\\ ` for a blank in a name.
pub(super) fn read_by_compiler(list: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(list).unwrap_or_default();
    let built = list.parent();
    let line = text.lines().next().unwrap_or_default();
    let (_, sources) = line.split_once(": ").unwrap_or_default();
    let mut paths = Vec::new();
    let mut name = String::new();
    for part in sources.split(' ') {
        match part.strip_suffix('\\') {
            Some(beginning) => {
                name.push_str(beginning);
                name.push(' ');
            }
            None => {
                name.push_str(part);
                paths.push(PathBuf::from(std::mem::take(&mut name)));
            }
        }
    }
    // A build writes these itself.
    paths.retain(|path| {
        let is_built = built.is_some_and(|built| path.starts_with(built));
        !is_built && !path.as_os_str().is_empty()
    });
    paths
}

fn short(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn sources_are_those_that_the_compiler_has_read() {
        let folder = TempDir::new().unwrap();
        let list = folder.path().join("server.d");
        let generated = folder.path().join("build/out/generated.rs");
        let line = format!(
            "/target/server: /my\\ code/src/lib.rs /a.rs {}\n",
            generated.display()
        );
        fs::write(&list, line).unwrap();
        let read = read_by_compiler(&list);
        assert_eq!(read, ["/my code/src/lib.rs", "/a.rs"].map(PathBuf::from));
        assert_eq!(
            read_by_compiler(Path::new("/nonexistent")),
            [""; 0].map(PathBuf::from)
        );
    }

    #[test]
    fn a_file_that_is_written_made_or_removed_is_a_difference() {
        let folder = TempDir::new().unwrap();
        let file = |name: &str| folder.path().join(name);
        let look = || {
            let mut snapshot = Snapshot::default();
            snapshot.add_rust_files(folder.path());
            snapshot
        };
        fs::create_dir(file("inner")).unwrap();
        fs::write(file("a.rs"), "1").unwrap();
        fs::write(file("notes.txt"), "1").unwrap();
        let before = look();
        assert_eq!(before.difference(&look()), None);
        fs::write(file("notes.txt"), "12").unwrap();
        assert_eq!(before.difference(&look()), None);
        fs::write(file("a.rs"), "12").unwrap();
        assert_eq!(before.difference(&look()).as_deref(), Some("a.rs"));
        let before = look();
        fs::write(file("inner/b.rs"), "1").unwrap();
        assert_eq!(before.difference(&look()).as_deref(), Some("b.rs"));
        let before = look();
        fs::remove_file(file("a.rs")).unwrap();
        assert_eq!(before.difference(&look()).as_deref(), Some("a.rs"));
    }

    #[test]
    fn a_file_that_a_build_names_has_changed_only_if_it_was_written_since() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("a.rs"), "1").unwrap();
        fs::write(folder.path().join("Cargo.lock"), "1").unwrap();
        let mut later = Snapshot::default();
        later.add(&folder.path().join("a.rs"));
        later.add(&folder.path().join("Cargo.lock"));
        let written = fs::metadata(folder.path().join("a.rs"))
            .unwrap()
            .modified()
            .unwrap();
        let (soon, ago) = (
            written + Duration::from_secs(1),
            written - Duration::from_secs(1),
        );
        let none = Snapshot::default();
        assert_eq!(none.change_during_build(&later, soon), None);
        assert_eq!(
            none.change_during_build(&later, ago).as_deref(),
            Some("a.rs")
        );
        assert_eq!(later.change_during_build(&later, ago), None);
    }
}
