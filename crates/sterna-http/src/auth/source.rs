//! Sources of an issuer's keys.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::pin::Pin;

use bytes::Bytes;

use crate::blocking::BlockingReads;

/// Fetches an issuer's key set.
///
/// The keys are cached and the fetch is timed, sized and rate-limited by the
/// caller; a source only gets the bytes. A URL is fetched by a source from a
/// crate that brings an HTTPS client, so that a server without one does not
/// carry it.
pub trait JwksSource: Send + Sync + 'static {
    /// Starts fetching the document.
    fn load(&self) -> Loading;
}

/// A key set on its way.
pub type Loading = Pin<Box<dyn Future<Output = Result<Bytes, SourceError>> + Send>>;

/// A key set in a file, read again when the cache grows old or a token names a
/// key that is not in it.
///
/// A file that hangs, such as a pipe without a writer, is a file that
/// cannot be read.
#[derive(Clone, Debug)]
pub struct JwksFile {
    path: PathBuf,
    reader: BlockingReads,
}

impl JwksFile {
    /// Reads keys from `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            reader: BlockingReads::default(),
        }
    }
}

impl JwksSource for JwksFile {
    fn load(&self) -> Loading {
        let (path, reader) = (self.path.clone(), self.reader.clone());
        Box::pin(async move {
            let reading = reader.run("sterna-jwks", move || {
                let mut document = Vec::new();
                // One byte more than we accept, so that a longer file is seen to be longer.
                let limit = MAX_DOCUMENT as u64 + 1;
                File::open(path)?.take(limit).read_to_end(&mut document)?;
                Ok::<_, std::io::Error>(document)
            });
            match reading.await {
                Ok(Ok(document)) => Ok(Bytes::from(document)),
                Ok(Err(error)) => Err(SourceError::new(error)),
                Err(error) => Err(SourceError::new(error)),
            }
        })
    }
}

/// The keys could not be fetched.
#[derive(Debug)]
pub struct SourceError(Box<dyn std::error::Error + Send + Sync>);

impl SourceError {
    /// Wraps the error of the fetch.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key set could not be fetched")
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// A key set is a few kilobytes; a source that sends this much is not one.
pub(super) const MAX_DOCUMENT: usize = 512 * 1024;
