//! Our own examples, good and bad: `tests/corpus/*.txt`.
//!
//! A block is a line that names a type and says what the example is, the
//! example, and what comes of it: it is read and written as the same JSON, as
//! another JSON, or refused. `UPDATE_EXPECT=1` writes the outcomes anew.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::Value;

use super::{catalog, spec};

#[test]
fn our_own_examples_are_read_and_refused_as_written_down() {
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut rendered = String::new();
        for block in text.split("\n\n") {
            let block = Block::parse(block, &path);
            writeln!(rendered, "{block}").unwrap();
        }
        rendered.truncate(rendered.len() - 1);
        expect_file![&path].assert_eq(&rendered);
    }
}

#[test]
fn our_own_examples_cover_what_the_official_ones_do() {
    let Some(folder) = spec::folder() else { return };
    let texts: Vec<_> = files()
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let good: BTreeSet<String> = texts
        .iter()
        .flat_map(|text| text.split("\n\n"))
        .map(|block| Block::parse(block, Path::new("")))
        .filter(|block| block.outcome().is_ok())
        .map(|block| block.definition.to_owned())
        .collect();
    let official = std::fs::read_dir(folder.join("examples")).unwrap();
    let official = official.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let missing: Vec<_> = official.filter(|name| !good.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

struct Block<'a> {
    revision: &'a str,
    definition: &'a str,
    title: &'a str,
    json: &'a str,
}

impl<'a> Block<'a> {
    fn parse(block: &'a str, path: &Path) -> Self {
        let mut lines = block.trim_end().lines();
        let head = lines.next().and_then(|line| line.strip_prefix("# "));
        let head = head.and_then(|head| head.split_once(": "));
        let (Some((kind, title)), Some(json)) = (head, lines.next()) else {
            panic!("{}: malformed block: {block}", path.display());
        };
        let (revision, definition) = kind.split_once(' ').unwrap_or(("2026-07-28", kind));
        Self {
            revision,
            definition,
            title,
            json,
        }
    }

    fn outcome(&self) -> Result<Value, String> {
        let codec = catalog::find(self.revision, self.definition);
        codec.unwrap_or_else(|| panic!("no such type: {}", self.definition))(self.json)
    }
}

impl std::fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.revision {
            "2026-07-28" => writeln!(f, "# {}: {}", self.definition, self.title)?,
            other => writeln!(f, "# {other} {}: {}", self.definition, self.title)?,
        }
        writeln!(f, "{}", self.json)?;
        match self.outcome() {
            Ok(after) if after == serde_json::from_str::<Value>(self.json).unwrap() => {
                writeln!(f, "-> the same")
            }
            Ok(after) => writeln!(f, "-> {after}"),
            Err(error) => writeln!(f, "-> refused: {error}"),
        }
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}
