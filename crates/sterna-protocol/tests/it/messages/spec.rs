use std::path::PathBuf;

use serde_json::{Map, Value};

/// The folder with the official schemas and examples, if there is one.
///
/// They are not ours to copy, so tests that need them say so and pass without.
pub(super) fn folder() -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "only the caller knows where it is"
    )]
    match std::env::var("STERNA_SPEC_DIR") {
        Ok(folder) => Some(folder.into()),
        Err(_) => {
            eprintln!("skipped: set STERNA_SPEC_DIR to the folder with the official examples");
            None
        }
    }
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
