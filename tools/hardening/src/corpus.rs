//! The official examples.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// An example message, or a part of one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Example {
    /// Its folder and file.
    pub name: String,
    /// What it says.
    pub message: Value,
}

/// All examples below `folder`, which holds `examples/<Type>/*.json`, in the
/// order of their names.
///
/// # Errors
///
/// There are none, or they cannot be read.
pub fn examples(folder: &Path) -> Result<Vec<Example>> {
    let mut found = Vec::new();
    for kind in std::fs::read_dir(folder.join("examples"))? {
        for file in std::fs::read_dir(kind?.path())? {
            let path = file?.path();
            let text = std::fs::read_to_string(&path)?;
            let message = serde_json::from_str(&text)
                .with_context(|| format!("{} is not JSON", path.display()))?;
            let name = path.strip_prefix(folder)?.display().to_string();
            found.push(Example { name, message });
        }
    }
    ensure!(!found.is_empty(), "there are no examples");
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}
