//! Files that hold secrets: readable by their owner only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

/// Makes a file that others cannot read; fails if it is there.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Replaces the file at `path`. Readers see the old file or the whole new one,
/// and only the owner can open it.
///
/// A symbolic link or a special file is refused: the text would land in another
/// file, or the link would be lost.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    place(path, text, None)
}

/// The same for a file that is there: its group may go on reading it, if it
/// could and others could not.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let old = fs::symlink_metadata(path)?;
    place(path, text, Some(&old))
}

/// Refuses a path at which [`write()`] would refuse to write.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(refused("is a symbolic link", path)),
        Ok(found) if !found.is_file() => Err(refused("is not a file", path)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn place(path: &Path, text: &str, old: Option<&fs::Metadata>) -> io::Result<()> {
    check(path)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // Made with O_EXCL and mode 0600, under a name that others cannot foresee.
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    if let Some(old) = old {
        keep_group(new.as_file(), old)?;
    }
    new.as_file().sync_all()?;
    // A rename replaces a link that has appeared meanwhile; it does not follow it.
    new.persist(path)?;
    Ok(())
}

/// Lets the group of `old` read `new`, if it could read `old` and others could
/// not. Where the group cannot be set, the file stays the owner's.
#[cfg(unix)]
fn keep_group(new: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let is_shared = old.mode() & 0o047 == 0o040;
    if is_shared && fchown(new, None, Some(old.gid())).is_ok() {
        new.set_permissions(fs::Permissions::from_mode(0o640))?;
    }
    // Only root can; for others the file is their own already.
    let _ = fchown(new, Some(old.uid()), None);
    Ok(())
}

#[cfg(not(unix))]
fn keep_group(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

fn refused(why: &str, path: &Path) -> io::Error {
    let path = path.display();
    io::Error::other(format!(
        "{path} {why}, and secrets are written to plain files only; name another file"
    ))
}
