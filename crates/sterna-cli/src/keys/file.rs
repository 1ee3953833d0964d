//! Reading and writing a key file so that no secret gets out on the way.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use sterna_seal::{Keyring, SecretText};

use crate::exit::{Exit, Failure};
use crate::private_file;

pub(crate) fn read(file: &Path) -> Result<Keyring, Failure> {
    let text = fs::read_to_string(file)
        .map(SecretText::from)
        .with_context(|| format!("{} cannot be read", file.display()))
        .map_err(|error| {
            let hint = format!("`sterna keys new {}` makes a key file", file.display());
            Failure::new(Exit::Failed, error).hint(hint)
        })?;
    let ring = Keyring::from_toml(text.as_str());
    Ok(ring.with_context(|| format!("{} is not a key file", file.display()))?)
}

/// Makes `file`, readable by its owner only; fails if it is there.
pub(super) fn create(file: &Path, text: &SecretText) -> Result<(), Failure> {
    let made =
        private_file::create(file).and_then(|mut made| made.write_all(text.as_str().as_bytes()));
    made.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let error = anyhow!("{} exists already, and was left alone", file.display());
            let hint = format!("`sterna keys rotate {}` adds a key to it", file.display());
            Failure::new(Exit::Failed, error).hint(hint)
        }
        _ => anyhow!(error)
            .context(format!("{} cannot be written", file.display()))
            .into(),
    })
}

/// Replaces `file` in one step: readers see the old file or the whole new one.
pub(super) fn replace(file: &Path, text: &SecretText) -> Result<(), Failure> {
    let replaced = private_file::replace(file, text.as_str());
    Ok(replaced.with_context(|| format!("{} cannot be replaced", file.display()))?)
}

/// Returns true if others than the owner can read `file`.
pub(super) fn is_open_to_others(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}
