//! Crates whose types occur in the public signatures of the shipped crates.
//!
//! Such a crate cannot be replaced, nor its major version raised, without a
//! breaking release of ours. The signatures are read from rustdoc's JSON.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use cargo_metadata::Package;
use serde_json::Value;

use crate::release::{metadata, shipped};
use crate::shell::{command, finish, target_dir};

/// The crates that may occur, by the names that code uses.
const ALLOWED: &[&str] = &[
    "alloc",
    "bytes",
    "core",
    "http",
    "http_body",
    // Only in bounds that its macro writes.
    "pin_project_lite",
    "schemars",
    "serde",
    "serde_core",
    "serde_json",
    "std",
    "tokio",
    "tower_service",
];

/// Crates that one crate of ours is made for, and shows in its signatures.
const MADE_FOR: &[(&str, &str)] = &[
    ("sterna_axum", "axum"),
    ("sterna_axum", "axum_core"),
    // Its feature `axum` tests routers.
    ("sterna_testkit", "axum"),
];

/// Crates that one crate of ours shows to another, which shows them no further.
const BETWEEN_US: &[(&str, &str)] = &[("sterna_oauth", "rustls"), ("sterna_oauth", "url")];

pub(crate) fn run() -> Result<()> {
    // The whole workspace, because its features are built already; what users
    // see of a feature is public too.
    let doc = ["doc", "--workspace", "--no-deps", "--lib", "--all-features"];
    finish(
        command("cargo", &doc)
            .args(["--locked", "--quiet"])
            .env("RUSTDOC", rustdoc_with_json()?)
            .env("RUSTDOCFLAGS", "-Zunstable-options --output-format=json"),
    )?;
    let metadata = metadata()?;
    let mut complaints = Vec::new();
    for package in shipped(&metadata).filter(|package| has_library(package)) {
        let name = package.name.replace('-', "_");
        let page = target_dir().join("doc").join(format!("{name}.json"));
        let page = std::fs::read(&page).with_context(|| format!("no {}", page.display()))?;
        complaints.extend(complaints_about(&name, &serde_json::from_slice(&page)?));
    }
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}

fn has_library(package: &Package) -> bool {
    package.targets.iter().any(|target| target.is_lib())
}

/// A rustdoc that writes JSON, which stable ones do on request only.
///
/// The request must not reach build scripts: some of them would run again and
/// have most of the workspace built anew.
fn rustdoc_with_json() -> Result<PathBuf> {
    let script = target_dir().join("rustdoc-json");
    std::fs::create_dir_all(target_dir())?;
    std::fs::write(
        &script,
        "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n",
    )?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode)?;
    Ok(script)
}

/// One line for every public item that names a crate that is not allowed.
fn complaints_about(name: &str, page: &Value) -> BTreeSet<String> {
    let mut complaints = BTreeSet::new();
    let items = page["index"].as_object().into_iter().flatten();
    for (_, item) in items.filter(|(_, item)| is_ours_and_public(item)) {
        let mut ids = BTreeSet::new();
        collect_ids(&item["inner"], &mut ids);
        for id in ids {
            let krate = &page["paths"][id.to_string()]["crate_id"];
            let krate = page["external_crates"][krate.to_string()]["name"].as_str();
            let Some(krate) = krate.filter(|krate| !is_allowed(name, krate)) else {
                continue;
            };
            let span = &item["span"];
            let file = span["filename"].as_str().unwrap_or("?");
            let line = &span["begin"][0];
            complaints.insert(format!("{file}:{line} shows a type of `{krate}`"));
        }
    }
    complaints
}

fn is_allowed(name: &str, krate: &str) -> bool {
    let pair = (name, krate);
    let is_known = MADE_FOR.contains(&pair) || BETWEEN_US.contains(&pair);
    krate.starts_with("sterna") || ALLOWED.contains(&krate) || is_known
}

/// Leaves out the implementations that the compiler or another crate adds to
/// every type.
fn is_ours_and_public(item: &Value) -> bool {
    let added = &item["inner"]["impl"];
    item["crate_id"] == 0
        && matches!(item["visibility"].as_str(), Some("public" | "default"))
        && added["is_synthetic"] != true
        && added["blanket_impl"].is_null()
}

/// The ids of all paths in the signature of an item.
fn collect_ids(signature: &Value, ids: &mut BTreeSet<u64>) {
    match signature {
        Value::Array(parts) => parts.iter().for_each(|part| collect_ids(part, ids)),
        Value::Object(parts) => {
            ids.extend(parts.get("id").and_then(Value::as_u64));
            parts.values().for_each(|part| collect_ids(part, ids));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_foreign_type_in_a_signature_is_reported_with_its_line() {
        let page = json!({
            "index": {
                "1": {
                    "crate_id": 0,
                    "visibility": "public",
                    "span": {"filename": "src/a.rs", "begin": [7, 1]},
                    "inner": {"function": {"sig": {"inputs": [
                        ["allowed", {"resolved_path": {"id": 10, "path": "Bytes"}}],
                        ["other", {"borrowed_ref": {"type": {"resolved_path": {"id": 11}}}}],
                    ]}}},
                },
                "2": {
                    "crate_id": 0,
                    "visibility": "public",
                    "inner": {"impl": {"blanket_impl": {"generic": "T"}, "trait": {"id": 11}}},
                },
            },
            "paths": {"10": {"crate_id": 1}, "11": {"crate_id": 2}},
            "external_crates": {"1": {"name": "bytes"}, "2": {"name": "hyper"}},
        });
        let complaints: Vec<_> = complaints_about("sterna_a", &page).into_iter().collect();
        assert_eq!(complaints, ["src/a.rs:7 shows a type of `hyper`"]);
    }
}
