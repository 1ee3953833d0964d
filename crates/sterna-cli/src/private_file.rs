//! Files that hold secrets: readable by their owner only.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Makes a file that nobody else can read; fails if it is there.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Writes a whole file, over what was there.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = options().create(true).truncate(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
