//! Which revisions a server speaks.

mod memory;

use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::errors::ProtocolError;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::jsonrpc::ErrorObject;
use sterna_protocol::legacy::InitializeResult;
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::version::ProtocolVersion;

use crate::core::{Core, Spoken};
use crate::error::{Error, ErrorKind, Fault, is_transient, printable};
use crate::session::Session;
use crate::wire::Patience;

/// Which revisions a client may speak.
///
/// A client finds out once, when it connects, and keeps to it. Within a process
/// later clients of the same URL know of a legacy server for an hour; a host
/// that remembers [`Client::era`](crate::Client::era) can spare the question to
/// other processes too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// Whichever the server speaks, modern first.
    #[default]
    Any,
    /// 2025-11-25 and earlier: a session.
    Legacy,
    /// 2026-07-28 and later: every request stands alone.
    Modern,
}

/// Finds out by asking.
pub(crate) async fn find(core: &mut Core, era: Era) -> Result<DiscoverResult, Error> {
    if era == Era::Legacy {
        return open(core).await;
    }
    // A pipe leads to another server each time.
    let place = core.wire.transport.has_headers();
    let place = place.then(|| core.place().to_owned());
    if let (Era::Any, Some(place)) = (era, &place)
        && memory::is_legacy(place)
    {
        match open(core).await {
            // It may have become another one, which is found out below.
            Err(error) if error.kind() != ErrorKind::Unavailable => memory::forget(place),
            opened => return opened,
        }
    }
    let patience = match core.wire.transport.has_headers() {
        true => core.patience(),
        // STDIO-C8: some servers of old say nothing at all.
        false => Patience {
            silence: core.config.probe_timeout,
            total: core.config.probe_timeout,
        },
    };
    let found = match core.discover(patience).await {
        Err(error) if speaks_latest(&error) => core.discover(patience).await,
        found => found,
    };
    match found {
        Ok(found) => {
            check(&found.supported_versions)?;
            Ok(found)
        }
        Err(error) => match (judge(&error, core.wire.transport.has_headers()), era) {
            (Verdict::Legacy, Era::Any) => {
                let opened = open(core).await?;
                if let Some(place) = &place {
                    memory::remember(place);
                }
                Ok(opened)
            }
            (Verdict::Legacy, _) => Err(Fault::NotModern.into()),
            (Verdict::Modern | Verdict::Unknown, _) => Err(refused(error)),
        },
    }
}

/// What a failed probe says about the server.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Legacy,
    Modern,
    Unknown,
}

fn judge(error: &Error, over_http: bool) -> Verdict {
    match error.fault() {
        // VER-C4: whoever knows these errors knows the revision that has them.
        Fault::Refused { error, .. } if is_modern(error) => Verdict::Modern,
        // A server that is busy or broken for the moment has not said how old it is.
        Fault::Refused {
            status: Some(status),
            ..
        }
        | Fault::Status { status, .. }
            if !is_settled(*status) =>
        {
            Verdict::Unknown
        }
        // HTTP-C15, STDIO-C7: every other refusal, whatever its code.
        Fault::Refused { .. } | Fault::Status { .. } => Verdict::Legacy,
        // STDIO-C8: silence, or an end in horror.
        Fault::Timeout(_) | Fault::Closed if !over_http => Verdict::Legacy,
        _ => Verdict::Unknown,
    }
}

fn is_modern(error: &ErrorObject) -> bool {
    !matches!(ProtocolError::find(error), Ok(None))
}

/// Whether a status is the server's last word about a request.
fn is_settled(status: u16) -> bool {
    match status {
        401 | 403 => false,
        status => status < 500 && !is_transient(status),
    }
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

/// A refusal of our version, told as such.
fn refused(error: Error) -> Error {
    match error.rpc().map(ProtocolError::find) {
        Some(Ok(Some(ProtocolError::UnsupportedProtocolVersion(refusal)))) => {
            match check(&refusal.supported) {
                Ok(()) => error,
                Err(none) => none,
            }
        }
        _ => error,
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

async fn open(core: &mut Core) -> Result<DiscoverResult, Error> {
    let info = core.info.clone();
    let info = info.unwrap_or_else(|| Implementation::new("client", "0"));
    let wire = core.wire.clone();
    let (session, result) =
        Session::open(wire, core.answers.clone(), info, core.patience()).await?;
    core.spoken = Spoken::Legacy(Box::new(session));
    Ok(as_discovered(result))
}

/// What a legacy server says about itself, in the words of today.
fn as_discovered(result: InitializeResult) -> DiscoverResult {
    let versions = vec![result.protocol_version];
    let mut discovered = DiscoverResult::new(versions, result.capabilities.base);
    discovered.instructions = result.instructions;
    discovered.meta = Some(ResultMeta::of(result.server_info));
    discovered
}

#[cfg(test)]
mod tests {
    use sterna_protocol::jsonrpc::ErrorCode;

    use super::*;

    fn refusal(code: i64, status: u16) -> Error {
        let error = ErrorObject::new(ErrorCode(code), "no");
        let status = Some(status);
        Fault::Refused { error, status }.into()
    }

    fn status(status: u16) -> Error {
        let retry_after = None;
        Fault::Status {
            status,
            retry_after,
        }
        .into()
    }

    #[test]
    fn an_error_of_the_modern_protocol_never_leads_to_a_session() {
        for code in [-32020, -32021, -32022] {
            assert_eq!(judge(&refusal(code, 400), true), Verdict::Modern, "{code}");
            assert_eq!(judge(&refusal(code, 200), false), Verdict::Modern, "{code}");
        }
    }

    #[test]
    fn trouble_of_the_moment_is_no_sign_of_age() {
        for code in [401, 403, 408, 425, 429, 500, 502, 503] {
            assert_eq!(judge(&status(code), true), Verdict::Unknown, "{code}");
            assert_eq!(
                judge(&refusal(-32603, code), true),
                Verdict::Unknown,
                "{code}"
            );
        }
        assert_eq!(judge(&Fault::Broken("x").into(), true), Verdict::Unknown);
        assert_eq!(judge(&Fault::Closed.into(), true), Verdict::Unknown);
    }

    #[test]
    fn every_other_refusal_is_one_of_a_legacy_server() {
        for code in [400, 404, 405, 406, 415] {
            assert_eq!(judge(&status(code), true), Verdict::Legacy, "{code}");
        }
        for code in [-32601, -32602, -32600, -32000, 7] {
            assert_eq!(judge(&refusal(code, 400), true), Verdict::Legacy, "{code}");
            assert_eq!(judge(&refusal(code, 200), false), Verdict::Legacy, "{code}");
        }
        let silence = std::time::Duration::from_secs(5);
        assert_eq!(
            judge(&Fault::Timeout(silence).into(), false),
            Verdict::Legacy
        );
        assert_eq!(judge(&Fault::Closed.into(), false), Verdict::Legacy);
    }
}
