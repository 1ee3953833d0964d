//! The parts of the `sterna` command as a bill of materials, in CycloneDX 1.5.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};
use serde_json::{Value, json};

use crate::shell::workspace_root;

/// The bill for `package` on `target`: every crate that is linked or that builds
/// another, with its licence, its checksum and its dependencies.
pub(super) fn of(package: &str, target: &str) -> Result<Value> {
    let mut command = MetadataCommand::new();
    let metadata = command
        .manifest_path(workspace_root().join("Cargo.toml"))
        .other_options(["--locked", "--filter-platform", target].map(str::to_owned))
        .exec()?;
    let lock = std::fs::read_to_string(workspace_root().join("Cargo.lock"))?;
    bill(&metadata, &checksums(&lock)?, package)
}

fn bill(
    metadata: &Metadata,
    checksums: &BTreeMap<(String, String), String>,
    name: &str,
) -> Result<Value> {
    let root = metadata
        .packages
        .iter()
        .find(|package| *package.name == *name);
    let root = root.with_context(|| format!("{name} is no crate of the workspace"))?;
    let parts = parts(metadata, &root.id)?;
    let packages: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| parts.contains_key(&package.id))
        .collect();
    let reference = |id: &PackageId| -> Option<String> {
        packages
            .iter()
            .find(|package| package.id == *id)
            .map(|package| purl(package))
    };
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for package in &packages {
        let needs = parts.get(&package.id).context("a part of the bill")?;
        let needs: BTreeSet<String> = needs.iter().filter_map(reference).collect();
        dependencies.push(json!({"ref": purl(package), "dependsOn": needs}));
        if package.id != root.id {
            components.push(component(package, "library", checksums));
        }
    }
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(root, "application", checksums)},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Every package that `root` needs, with the packages it needs itself. Tests'
/// dependencies are not among them.
fn parts(
    metadata: &Metadata,
    root: &PackageId,
) -> Result<BTreeMap<PackageId, BTreeSet<PackageId>>> {
    let resolve = metadata
        .resolve
        .as_ref()
        .context("cargo resolved no dependencies")?;
    let mut parts = BTreeMap::new();
    let mut open = vec![root.clone()];
    while let Some(id) = open.pop() {
        if parts.contains_key(&id) {
            continue;
        }
        let node = resolve.nodes.iter().find(|node| node.id == id);
        let node = node.with_context(|| format!("{id} is not resolved"))?;
        let needs: BTreeSet<PackageId> = node
            .deps
            .iter()
            .filter(|dep| {
                let mut kinds = dep.dep_kinds.iter();
                kinds.any(|kind| kind.kind != DependencyKind::Development)
            })
            .map(|dep| dep.pkg.clone())
            .collect();
        open.extend(needs.iter().cloned());
        parts.insert(id, needs);
    }
    Ok(parts)
}

fn component(
    package: &Package,
    kind: &str,
    checksums: &BTreeMap<(String, String), String>,
) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version.to_string(),
        "purl": purl(package),
    });
    if let Some(license) = &package.license {
        // Manifests of old crates write `/` where SPDX has `OR`.
        let expression = license.replace('/', " OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    let key = (package.name.to_string(), package.version.to_string());
    if let Some(checksum) = checksums.get(&key) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

/// Checksums of the packages in a `Cargo.lock`.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table = toml::from_str(lock).context("Cargo.lock is not understood")?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let text = |package: &toml::Value, key: &str| {
        let value = package.get(key).and_then(toml::Value::as_str);
        value.map(str::to_owned)
    };
    let packages = packages.context("Cargo.lock has no packages")?.iter();
    let entry = |package| {
        let key = (text(package, "name")?, text(package, "version")?);
        Some((key, text(package, "checksum")?))
    };
    Ok(packages.filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_of_the_command_names_what_is_linked_and_no_tests_part() {
        let bill = of("sterna-cli", "x86_64-unknown-linux-musl").unwrap();
        let components = bill["components"].as_array().unwrap();
        let part = |name: &str| components.iter().find(|part| part["name"] == name);
        let ring = part("ring").unwrap();
        assert_eq!(ring["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert!(ring["licenses"][0]["expression"].is_string());
        assert!(part("sterna-server").unwrap().get("hashes").is_none());
        for absent in ["expectrl", "windows-sys", "proptest", "sterna-cli"] {
            assert!(part(absent).is_none(), "{absent}");
        }
        // Every reference has its part.
        let root = bill["metadata"]["component"]["bom-ref"].as_str().unwrap();
        let known: BTreeSet<&str> = components
            .iter()
            .filter_map(|part| part["bom-ref"].as_str())
            .chain([root])
            .collect();
        for dependency in bill["dependencies"].as_array().unwrap() {
            for needed in dependency["dependsOn"].as_array().unwrap() {
                assert!(known.contains(needed.as_str().unwrap()), "{needed}");
            }
        }
    }
}
