//! Files that are published beside the crates: a static binary of the command, its
//! bill of materials, checksums, and the script that installs it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{checklist, sbom};
use crate::shell::{command, finish, target_dir, works, workspace_root};

/// Builds all files into `target/artifacts/`.
pub(crate) fn build() -> Result<()> {
    let version = checklist::version()?;
    let folder = target_dir().join("artifacts");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let binary = static_binary()?;
    let archive = pack(&binary, &folder, &version)?;
    let bill = folder.join(format!("sterna-{version}-{TARGET}.cdx.json"));
    let text = serde_json::to_string_pretty(&sbom::of("sterna-cli", TARGET)?)?;
    fs::write(&bill, text + "\n")?;
    let installer = folder.join("install.sh");
    let script = fs::read_to_string(workspace_root().join(INSTALLER))?;
    fs::write(&installer, script.replace("@VERSION@", &version))?;
    sum(&folder, &[archive, bill, installer])?;
    println!("{}", folder.display());
    Ok(())
}

/// The command without a dynamic library: it runs on every Linux.
fn static_binary() -> Result<PathBuf> {
    ensure!(
        works("musl-gcc", &["--version"]),
        "musl-gcc is missing: install musl-tools"
    );
    ensure!(
        works("rustc", &["--print", "target-libdir", "--target", TARGET]) && target_is_installed()?,
        "the target is missing: rustup target add {TARGET}"
    );
    let build = [
        "build",
        "--locked",
        "--profile",
        "production",
        "--target",
        TARGET,
    ];
    finish(
        command("cargo", &build)
            .args(["--package", "sterna-cli", "--bin", "sterna"])
            // Libraries in C are built for the same library of C.
            .env("CC_x86_64_unknown_linux_musl", "musl-gcc"),
    )?;
    let binary = target_dir().join(TARGET).join("production/sterna");
    let linked = command("ldd", &[]).arg(&binary).output()?;
    let said = [linked.stdout, linked.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let is_static = ["statically linked", "not a dynamic executable"];
    ensure!(
        is_static.iter().any(|sign| said.contains(sign)),
        "{} needs dynamic libraries: {said}",
        binary.display()
    );
    let version = [std::ffi::OsStr::new("--version")];
    let ran = std::process::Command::new(&binary).args(version).status()?;
    ensure!(ran.success(), "{} does not run here", binary.display());
    Ok(binary)
}

fn target_is_installed() -> Result<bool> {
    let print = ["--print", "target-libdir", "--target", TARGET];
    let told = command("rustc", &print).output()?;
    let folder = String::from_utf8(told.stdout)?;
    Ok(Path::new(folder.trim()).is_dir())
}

/// Packs the binary with the licences.
fn pack(binary: &Path, folder: &Path, version: &str) -> Result<PathBuf> {
    let name = format!("sterna-{version}-{TARGET}");
    let staged = folder.join(&name);
    fs::create_dir(&staged)?;
    fs::copy(binary, staged.join("sterna"))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        fs::copy(workspace_root().join(file), staged.join(file))?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    // The same input gives the same archive, for those who build it again.
    let tar = [
        "--create",
        "--gzip",
        "--sort=name",
        "--owner=0",
        "--group=0",
    ];
    finish(
        command("tar", &tar)
            .args(["--numeric-owner", "--mtime=@0", "--file"])
            .arg(&archive)
            .arg("--directory")
            .arg(folder)
            .arg(&name)
            .env("GZIP", "-n"),
    )?;
    fs::remove_dir_all(&staged)?;
    Ok(archive)
}

/// Writes the checksums of `files`.
fn sum(folder: &Path, files: &[PathBuf]) -> Result<()> {
    let mut sums = String::new();
    for file in files {
        let name = file.file_name().context("a file has a name")?;
        let told = command("sha256sum", &[]).arg(file).output()?;
        ensure!(
            told.status.success(),
            "sha256sum failed on {}",
            file.display()
        );
        let told = String::from_utf8(told.stdout)?;
        let sum = told
            .split_whitespace()
            .next()
            .context("sha256sum said nothing")?;
        writeln!(sums, "{sum}  {}", name.display())?;
    }
    fs::write(folder.join("SHA256SUMS"), sums)?;
    Ok(())
}

const INSTALLER: &str = "xtask/src/release/install.sh";
const TARGET: &str = "x86_64-unknown-linux-musl";

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use tempfile::TempDir;

    use super::*;

    const VERSION: &str = "9.9.9";

    /// A release on this machine, and a home to install it in.
    struct Release(TempDir);

    impl Release {
        fn new() -> Self {
            let folder = TempDir::new().unwrap();
            let binary = folder.path().join("built");
            fs::write(&binary, "#!/bin/sh\necho sterna 9.9.9\n").unwrap();
            let mode = Command::new("chmod").arg("755").arg(&binary).status();
            assert!(mode.unwrap().success());
            let files = folder.path().join(format!("v{VERSION}"));
            fs::create_dir(&files).unwrap();
            let archive = pack(&binary, &files, VERSION).unwrap();
            sum(&files, &[archive]).unwrap();
            Self(folder)
        }

        fn installs(&self) -> Output {
            let script = fs::read_to_string(workspace_root().join(INSTALLER)).unwrap();
            let script = script.replace("@VERSION@", VERSION);
            let base = format!("file://{}", self.0.path().display());
            Command::new("sh")
                .args(["-c", &script])
                .env("HOME", self.0.path())
                .env("STERNA_RELEASES", base)
                .output()
                .unwrap()
        }

        fn installed(&self) -> PathBuf {
            self.0.path().join(".local/bin/sterna")
        }
    }

    #[test]
    fn the_installer_puts_the_command_into_the_home_of_its_user() {
        let release = Release::new();
        let output = release.installs();
        assert!(output.status.success(), "{output:?}");
        let ran = Command::new(release.installed()).output().unwrap();
        assert_eq!(ran.stdout, b"sterna 9.9.9\n");
    }

    #[test]
    fn the_installer_refuses_a_file_that_is_not_the_one_of_the_release() {
        let release = Release::new();
        let name = format!("v{VERSION}/sterna-{VERSION}-{TARGET}.tar.gz");
        let archive = release.0.path().join(name);
        let mut bytes = fs::read(&archive).unwrap();
        bytes.push(0);
        fs::write(&archive, bytes).unwrap();
        let output = release.installs();
        assert!(!output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("checksum"), "{said}");
        assert!(!release.installed().exists());
    }

    #[test]
    fn an_archive_is_the_same_whenever_it_is_packed() {
        let sums = || {
            let release = Release::new();
            let file = release.0.path().join(format!("v{VERSION}/SHA256SUMS"));
            fs::read_to_string(file).unwrap()
        };
        assert_eq!(sums(), sums());
    }
}
