//! Which room may know which: the table of ARCHITECTURE.md, enforced.

use std::path::Path;

use anyhow::Result;
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Complaint;

/// Every crate of the workspace and the rooms it may build on.
///
/// Development dependencies are free, except that nothing shipped may need a
/// crate that is missing here.
const ARROWS: &[(&str, &[&str])] = &[
    ("sterna-types", &[]),
    ("sterna-protocol", &[]),
    ("sterna-macros", &[]),
    ("sterna-seal", &["sterna-types"]),
    ("sterna-flow", &["sterna-types"]),
    ("sterna-store", &["sterna-types"]),
    ("sterna-http", &["sterna-types"]),
    ("sterna-form", &["sterna-protocol"]),
    (
        "sterna-runner",
        &["sterna-flow", "sterna-seal", "sterna-store"],
    ),
    ("postgres-here", &[]),
    ("sterna-store-sqlite", &["sterna-store"]),
    ("sterna-store-postgres", &["sterna-store"]),
    (
        "sterna-server",
        &[
            "sterna-protocol",
            "sterna-seal",
            "sterna-flow",
            "sterna-store",
            "sterna-http",
            "sterna-runner",
            "sterna-form",
        ],
    ),
    (
        "sterna-axum",
        &[
            "sterna-flow",
            "sterna-form",
            "sterna-runner",
            "sterna-seal",
            "sterna-store",
        ],
    ),
    ("sterna-jwks", &["sterna-http"]),
    ("sterna-oauth", &[]),
    ("sterna-client", &["sterna-protocol", "sterna-oauth"]),
    (
        "sterna-gateway",
        &[
            "sterna-protocol",
            "sterna-runner",
            "sterna-server",
            "sterna-store",
            "sterna-client",
        ],
    ),
    (
        "sterna-testkit",
        &[
            "sterna-protocol",
            "sterna-seal",
            "sterna-flow",
            "sterna-store",
            "sterna-server",
            "sterna-client",
            "sterna-axum",
        ],
    ),
    (
        "sterna-inspect",
        &[
            "sterna-protocol",
            "sterna-seal",
            "sterna-flow",
            "sterna-store",
            "sterna-http",
            "sterna-oauth",
            "sterna-server",
            "sterna-client",
        ],
    ),
    (
        "bench-axum",
        &["sterna-axum", "sterna-seal", "sterna-store"],
    ),
    ("bench-sterna", &["sterna-server", "sterna-store"]),
    (
        "bench-tasks",
        &[
            "postgres-here",
            "sterna-seal",
            "sterna-server",
            "sterna-store",
            "sterna-store-postgres",
            "sterna-store-sqlite",
        ],
    ),
    (
        "sterna",
        &[
            "sterna-protocol",
            "sterna-seal",
            "sterna-flow",
            "sterna-store",
            "sterna-store-sqlite",
            "sterna-store-postgres",
            "sterna-server",
            "sterna-client",
            "sterna-macros",
            "sterna-testkit",
            "sterna-axum",
            "sterna-jwks",
        ],
    ),
    (
        "sterna-cli",
        &[
            "sterna-protocol",
            "sterna-seal",
            "sterna-flow",
            "sterna-gateway",
            "sterna-inspect",
            "sterna-jwks",
            "sterna-store",
            "sterna-store-postgres",
            "sterna-store-sqlite",
            "sterna-server",
            "sterna-client",
        ],
    ),
    (
        "chaos",
        &[
            "postgres-here",
            "sterna-flow",
            "sterna-server",
            "sterna-store",
            "sterna-store-postgres",
            "sterna-store-sqlite",
        ],
    ),
    (
        "conformance-server",
        &[
            "sterna-protocol",
            "sterna-flow",
            "sterna-server",
            "sterna-store-sqlite",
        ],
    ),
    ("conformance-client", &["sterna-protocol", "sterna-client"]),
    (
        "examples",
        &[
            "sterna",
            "sterna-protocol",
            "sterna-seal",
            "sterna-server",
            "sterna-client",
            "sterna-store-sqlite",
            "sterna-axum",
            "sterna-store",
            "sterna-store-postgres",
        ],
    ),
    (
        "fleet-simulation",
        &[
            "sterna-flow",
            "sterna-seal",
            "sterna-server",
            "sterna-store",
        ],
    ),
    ("hardening", &["sterna-server", "sterna-client"]),
    ("xtask", &[]),
];

pub(super) fn check(root: &Path) -> Result<Vec<Complaint>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()?;
    let mut complaints = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| *room == name) else {
            complaints.push(format!(
                "{name} is not in the table of rooms: add it to xtask/src/tidy/arrows.rs and to ARCHITECTURE.md"
            ));
            continue;
        };
        let folder = package.manifest_path.parent().and_then(|p| p.file_name());
        if folder != Some(name) {
            complaints.push(format!("{name} lives in a folder of another name"));
        }
        for dependency in &package.dependencies {
            let shipped = dependency.kind != DependencyKind::Development;
            let ours = dependency.path.is_some();
            if shipped && ours && !allowed.contains(&dependency.name.as_str()) {
                complaints.push(format!(
                    "{name} must not know {}: arrows point to lower layers only",
                    dependency.name
                ));
            }
        }
    }
    Ok(complaints)
}
