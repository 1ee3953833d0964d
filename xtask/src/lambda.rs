//! The example for AWS Lambda, which has a workspace of its own.

use anyhow::Result;

use crate::shell::{command, finish, target_dir, workspace_root};

/// Builds the function and runs its story against a Runtime API of the tests.
///
/// Both are in a target folder of their own: they have other features than the
/// workspace, so that no build could use that of the other.
pub(crate) fn run(profile: Profile) -> Result<()> {
    let folder = workspace_root().join("examples/lambda");
    let fmt = ["fmt", "--check"];
    finish(command("cargo", &fmt).current_dir(&folder))?;
    let mut test = command("cargo", &["test", "--locked", "--quiet"]);
    if profile == Profile::Release {
        test.arg("--release");
    }
    finish(
        test.args(["--", "--nocapture"])
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", target_dir().join("lambda")),
    )
}

/// Profile that the function is built with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// What every change is checked with: a release build takes minutes.
    Debug,
    /// What is deployed, and what figures are about.
    Release,
}
