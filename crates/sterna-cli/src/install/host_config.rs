use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tempfile::NamedTempFile;

use super::host::Scope;
use crate::exit::{Exit, Failure};

/// The configuration of a host, as it was when the command began.
#[derive(Debug)]
pub(super) struct HostConfig {
    /// The file itself, where the host's path is a symbolic link.
    path: PathBuf,
    /// `None` if it is not there.
    text: Option<String>,
}

impl HostConfig {
    pub(super) fn read(path: PathBuf) -> Result<Self, Failure> {
        // People keep their settings in a repository and link to it.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let text = read(&path)?;
        Ok(Self { path, text })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The text; empty if the file is not there.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Replaces the file in one step; returns the copy of what was there.
    pub(super) fn replace(&self, text: &str, scope: Scope) -> Result<Option<PathBuf>, Failure> {
        let failed = || format!("{} cannot be written", self.path.display());
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).with_context(failed)?;
        let mut new = NamedTempFile::new_in(folder).with_context(failed)?;
        new.write_all(text.as_bytes()).with_context(failed)?;
        new.as_file().sync_all().with_context(failed)?;
        let backup = match &self.text {
            None => {
                // Others work on the project too; the entry of a user may hold a secret.
                if scope == Scope::Project {
                    let _ = share(new.as_file());
                }
                None
            }
            Some(before) => {
                let permissions = fs::metadata(&self.path).with_context(failed)?.permissions();
                let kept = new.as_file().set_permissions(permissions);
                kept.with_context(failed)?;
                Some(self.back_up(before)?)
            }
        };
        // The host may have written while the user was asked.
        if read(&self.path)? != self.text {
            let error = anyhow!(
                "{} has changed meanwhile, and was left alone",
                self.path.display()
            );
            return Err(Failure::new(Exit::Failed, error).hint("run the command again"));
        }
        new.persist(&self.path).with_context(failed)?;
        Ok(backup)
    }

    /// Writes the old text beside the file, under a name that is free.
    fn back_up(&self, text: &str) -> Result<PathBuf, Failure> {
        for number in 1.. {
            let mut name = self.path.clone().into_os_string();
            name.push(match number {
                1 => ".bak".to_owned(),
                number => format!(".bak{number}"),
            });
            let path = PathBuf::from(name);
            let failed = || format!("{} cannot be written", path.display());
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    let mut file = made.with_context(failed)?;
                    file.write_all(text.as_bytes()).with_context(failed)?;
                    return Ok(path);
                }
            }
        }
        Err(anyhow!("no name is free for a copy of {}", self.path.display()).into())
    }
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let error = anyhow!(error).context(format!("{} cannot be read", path.display()));
            Err(error.into())
        }
    }
}

/// Has everyone on the machine read a file, as files of a project are read.
fn share(file: &fs::File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(fs::Permissions::from_mode(0o644))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(())
    }
}
