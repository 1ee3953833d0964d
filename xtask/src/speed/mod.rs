//! How fast the server is: against others, and against itself.

mod bench;
mod callgrind;

use std::path::PathBuf;

use anyhow::Result;

use crate::shell::{command, finish, target_dir, workspace_root};

pub(crate) use bench::run as bench;
pub(crate) use callgrind::run as callgrind;

/// Builds our server and, in their own workspace, those it is compared with.
struct Built {
    ours: PathBuf,
    others: PathBuf,
}

impl Built {
    fn new() -> Result<Self> {
        let release = ["build", "--release", "--locked"];
        finish(command("cargo", &release).args(["-p", "bench-sterna"]))?;
        let others = target_dir().join("bench");
        let folder = workspace_root().join("bench");
        finish(
            command("cargo", &release)
                .current_dir(folder)
                .env("CARGO_TARGET_DIR", &others),
        )?;
        Ok(Self {
            ours: target_dir().join("release/bench-sterna"),
            others: others.join("release"),
        })
    }
}
