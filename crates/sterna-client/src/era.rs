//! Which revisions a server speaks.

use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::errors::ProtocolError;
use sterna_protocol::version::ProtocolVersion;

use crate::core::Core;
use crate::error::{Error, Fault, printable};

/// Which revisions a client may speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// Whichever the server speaks, modern first.
    #[default]
    Any,
    /// 2026-07-28 and later.
    Modern,
}

/// Finds out by asking.
pub(crate) async fn find(core: &Core, _: Era) -> Result<DiscoverResult, Error> {
    let found = match core.discover().await {
        Err(error) if speaks_latest(&error) => core.discover().await?,
        found => found?,
    };
    check(&found.supported_versions)?;
    Ok(found)
}

/// VER-C1: whether the refusal names a version that both know.
fn speaks_latest(error: &Error) -> bool {
    match error.rpc().map(ProtocolError::find) {
        Some(Ok(Some(ProtocolError::UnsupportedProtocolVersion(refusal)))) => {
            refusal.supported.contains(&ProtocolVersion::LATEST)
        }
        _ => false,
    }
}

fn check(offered: &[ProtocolVersion]) -> Result<(), Error> {
    if offered.contains(&ProtocolVersion::LATEST) {
        return Ok(());
    }
    let names: Vec<_> = offered.iter().map(ProtocolVersion::as_str).collect();
    let offered = printable(&names.join(", "));
    Err(Fault::NoVersion { offered }.into())
}
