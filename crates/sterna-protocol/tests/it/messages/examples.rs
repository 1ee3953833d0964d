use std::path::PathBuf;

use serde_json::Value;

use super::judgement::Judge;
use super::mutations::mutations;
use super::{catalog, spec};

#[test]
fn every_official_example_survives_a_round_trip() {
    let mut failures = Vec::new();
    let examples = examples();
    for (name, path, text) in &examples {
        let before: Value = serde_json::from_str(text).unwrap();
        match catalog::find(REVISION, name).map(|codec| codec(text)) {
            Some(Ok(after)) if after == before => {}
            Some(Ok(after)) => failures.push(format!("{}: {after}", path.display())),
            Some(Err(error)) => failures.push(format!("{}: {error}", path.display())),
            None => failures.push(format!("no type for the folder {name}")),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(
        examples.is_empty() || examples.len() >= 129,
        "{}",
        examples.len()
    );
}

#[test]
fn what_the_schema_refuses_of_a_spoiled_example_is_refused() {
    let Some(definitions) = spec::definitions(REVISION) else {
        return;
    };
    let judge = Judge::new(REVISION, &definitions);
    let mut failures = Vec::new();
    for (name, _, text) in examples() {
        let codec = catalog::find(REVISION, &name).unwrap();
        let example: Value = serde_json::from_str(&text).unwrap();
        for value in mutations(&example, u8::MAX) {
            failures.extend(judge.disagreement(codec, &name, &value));
        }
    }
    assert!(failures.is_empty(), "{}: {failures:#?}", failures.len());
}

const REVISION: &str = "2026-07-28";

/// The type, the path and the text of every example.
fn examples() -> Vec<(String, PathBuf, String)> {
    let mut examples = Vec::new();
    for folder in spec::folder()
        .iter()
        .flat_map(|folder| entries(folder.join("examples")))
    {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for path in entries(folder) {
            let text = std::fs::read_to_string(&path).unwrap();
            examples.push((name.clone(), path, text));
        }
    }
    examples
}

fn entries(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(&folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}
