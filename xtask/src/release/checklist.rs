//! The checklist of a release, walked from its first line to its last.

use anyhow::{Context, Result, bail};

use super::{crates, crates::metadata};
use crate::shell::{command, workspace_root};

/// Says of every line whether it holds, and at the end what is left to type.
///
/// Checks what is cheap first, and everything even if a line does not hold.
pub(crate) fn run() -> Result<()> {
    let version = version()?;
    println!("release of {version}");
    let lines: [(&str, Check<'_>); 8] = [
        ("the shipped crates have one version", &|| {
            one_version(&version)
        }),
        ("CHANGELOG.md has a section for the version", &|| {
            changelog(&version)
        }),
        ("nothing is uncommitted", &committed),
        ("the version has no tag yet", &|| untagged(&version)),
        (
            "public signatures show types of a few crates only",
            &signatures,
        ),
        ("each feature builds alone", &crates::features),
        ("the oldest compiler builds it", &crates::oldest_compiler),
        ("every crate builds from its package", &crates::packages),
    ];
    let mut open = 0;
    for (line, check) in lines {
        match check() {
            Ok(()) => println!("[x] {line}"),
            Err(why) => {
                open += 1;
                println!("[ ] {line}: {why:#}");
            }
        }
    }
    println!("{}", left_to_type(&version));
    match open {
        0 => Ok(()),
        open => bail!("{open} line(s) of the checklist are open"),
    }
}

type Check<'a> = &'a dyn Fn() -> Result<()>;

/// Commands that publish, which no automation of ours types.
fn left_to_type(version: &str) -> String {
    format!(
        "then, in this order:\n\
         \x20 cargo xtask ci\n\
         \x20 cargo xtask artifacts\n\
         \x20 cargo publish --workspace --locked --dry-run\n\
         \x20 git tag --sign v{version} --message \"Sterna {version}\"\n\
         \x20 git push origin v{version}\n\
         \x20 cargo publish --workspace --locked\n\
         and upload the files in target/artifacts/ to the release of the tag"
    )
}

/// The version of the workspace.
pub(super) fn version() -> Result<String> {
    let metadata = metadata()?;
    let mut shipped = crates::shipped(&metadata);
    let first = shipped.next().context("no crate is shipped")?;
    Ok(first.version.to_string())
}

fn one_version(version: &str) -> Result<()> {
    let metadata = metadata()?;
    let mut shipped = crates::shipped(&metadata);
    match shipped.find(|package| package.version.to_string() != version) {
        None => Ok(()),
        Some(other) => bail!("{} has {}", other.name, other.version),
    }
}

fn changelog(version: &str) -> Result<()> {
    let text = std::fs::read_to_string(workspace_root().join("CHANGELOG.md"))?;
    section(&text, version)
}

/// Whether the version has a section, and no change is left for a later one.
fn section(changelog: &str, version: &str) -> Result<()> {
    let mut sections = changelog.split("\n## ").skip(1);
    let title = format!("{version} ");
    if !changelog.contains(&format!("\n## {title}")) {
        bail!("write `## {version} - <date>` over the lines of this version");
    }
    let unreleased = sections.find(|section| section.starts_with("Unreleased"));
    match unreleased.is_some_and(|section| section.lines().any(|line| line.starts_with("- "))) {
        true => bail!("`## Unreleased` still has changes"),
        false => Ok(()),
    }
}

fn committed() -> Result<()> {
    match git(&["status", "--porcelain"])?.lines().count() {
        0 => Ok(()),
        files => bail!("{files} file(s) are not committed"),
    }
}

fn untagged(version: &str) -> Result<()> {
    match git(&["tag", "--list", &format!("v{version}")])?.is_empty() {
        true => Ok(()),
        false => bail!("the tag v{version} is there; raise the version in Cargo.toml"),
    }
}

/// Foreign types in public signatures would tie users to versions of others.
fn signatures() -> Result<()> {
    crate::external_types::run()
}

fn git(args: &[&str]) -> Result<String> {
    let output = command("git", args)
        .output()
        .context("git cannot be started")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changelog_is_ready_when_its_changes_have_a_version() {
        let ready = "# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-12-01\n\n- a\n";
        assert!(section(ready, "0.1.0").is_ok());
        for (text, why) in [
            ("# Changelog\n\n## Unreleased\n\n- a\n", "write `## 0.1.0"),
            (
                "# Changelog\n\n## Unreleased\n\n- b\n\n## 0.1.0 - x\n\n- a\n",
                "still has changes",
            ),
            ("# Changelog\n\n## 0.1.01 - x\n\n- a\n", "write `## 0.1.0"),
        ] {
            let error = section(text, "0.1.0").unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
