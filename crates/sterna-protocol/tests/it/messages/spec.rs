use std::path::PathBuf;

use serde_json::{Map, Value};

/// The folder with the official schemas and examples, if there is one.
///
/// They are not ours to copy, so tests that need them say so and pass without,
/// but not in a run that guards a merge.
pub(super) fn folder() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("STERNA_SPEC_DIR") else {
        let what = "set STERNA_SPEC_DIR to the folder with the official schema/ and examples/";
        assert!(std::env::var_os("CI").is_none(), "missing: {what}");
        eprintln!("skipped: {what}");
        return None;
    };
    Some(folder.into())
}

/// The definitions of one schema file, such as `2026-07-28` or `ext-tasks`.
pub(super) fn definitions(revision: &str) -> Option<Map<String, Value>> {
    let path = folder()?.join("schema").join(format!("{revision}.json"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    ["$defs", "definitions"]
        .into_iter()
        .find_map(|name| match schema[name].take() {
            Value::Object(definitions) => Some(definitions),
            _ => None,
        })
}
