//! The crates that do no I/O, checked for WebAssembly.

use anyhow::Result;

use crate::shell::{command, finish};

/// Checks that the crates below the edge build for a platform without files,
/// sockets, clocks and threads.
///
/// `seal` and `form` are not among them: `ring` needs a C compiler for that target.
pub(crate) fn run() -> Result<()> {
    if !is_installed()? {
        println!("skipped: {TARGET}, `rustup target add {TARGET}` installs it");
        return Ok(());
    }
    let mut check = command("cargo", &["check", "--locked", "--target", TARGET]);
    for name in CRATES {
        check.args(["--package", name]);
    }
    finish(&mut check)
}

fn is_installed() -> Result<bool> {
    let folder = command("rustc", &["--print", "target-libdir", "--target", TARGET]).output()?;
    let folder = String::from_utf8(folder.stdout)?;
    Ok(std::path::Path::new(folder.trim()).is_dir())
}

const TARGET: &str = "wasm32-unknown-unknown";

const CRATES: [&str; 3] = ["sterna-types", "sterna-protocol", "sterna-flow"];
