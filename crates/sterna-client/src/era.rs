//! Which revisions a server speaks.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use sterna_protocol::capabilities::ServerCapabilities;
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::errors::ProtocolError;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::jsonrpc::ErrorObject;
use sterna_protocol::legacy::InitializeResult;
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::version::ProtocolVersion;
use tokio::time::Instant;

use crate::core::{Core, Protocol};
use crate::error::{Error, ErrorKind, Fault, is_transient, printable};
use crate::session::Session;
use crate::wire::Timeouts;

/// Which revisions a client may speak.
///
/// A client finds out once, when it connects, and keeps to it. Within a process
/// later clients of the same URL know of a legacy server for an hour; a host
/// that remembers [`Client::era`](crate::Client::era) can spare the question to
/// other processes too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// The era that the server speaks; modern is tried first.
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
    let endpoint = core.wire.transport.has_headers();
    let endpoint = endpoint.then(|| core.endpoint().to_owned());
    if let (Era::Any, Some(endpoint)) = (era, &endpoint)
        && is_known_legacy(endpoint)
    {
        match open(core).await {
            // It may have become another one, which is found out below.
            Err(error) if error.kind() != ErrorKind::Unavailable => forget_legacy(endpoint),
            opened => return opened,
        }
    }
    let timeouts = match core.wire.transport.has_headers() {
        true => core.timeouts(),
        // STDIO-C8: some servers of old say nothing at all.
        false => Timeouts {
            idle: core.config.probe_timeout,
            total: core.config.probe_timeout,
        },
    };
    let found = match core.discover(timeouts).await {
        Err(error) if speaks_latest(&error) => core.discover(timeouts).await,
        found => found,
    };
    match found {
        Ok(found) => {
            check(&found.supported_versions)?;
            Ok(found)
        }
        Err(error) => match (classify(&error, core.wire.transport.has_headers()), era) {
            (ProbeResult::Legacy, Era::Any) => {
                let opened = open(core).await?;
                if let Some(endpoint) = &endpoint {
                    remember_legacy(endpoint);
                }
                Ok(opened)
            }
            // A process that ended has not said how old it is.
            (ProbeResult::Legacy, _) if matches!(error.fault(), Fault::Died { .. }) => Err(error),
            (ProbeResult::Legacy, _) => Err(Fault::NotModern.into()),
            (ProbeResult::Modern | ProbeResult::Unknown, _) => Err(refused(error)),
        },
    }
}

/// Conclusion from a failed probe.
#[derive(Debug, PartialEq, Eq)]
enum ProbeResult {
    Legacy,
    Modern,
    Unknown,
}

fn classify(error: &Error, over_http: bool) -> ProbeResult {
    match error.fault() {
        // VER-C4: a server that sends these errors knows the revision.
        Fault::Refused { error, .. } if is_modern(error) => ProbeResult::Modern,
        // A server that is busy or broken for the moment has not said how old it is.
        Fault::Refused {
            status: Some(status),
            ..
        }
        | Fault::Status { status, .. }
            if !is_settled(*status) =>
        {
            ProbeResult::Unknown
        }
        // HTTP-C15, STDIO-C7: every other refusal, with any code.
        Fault::Refused { .. } | Fault::Status { .. } => ProbeResult::Legacy,
        // STDIO-C8: silence, or an end in horror.
        Fault::Closed | Fault::Died { .. } | Fault::Timeout(_) if !over_http => ProbeResult::Legacy,
        _ => ProbeResult::Unknown,
    }
}

fn is_modern(error: &ErrorObject) -> bool {
    !matches!(ProtocolError::find(error), Ok(None))
}

/// Returns true for a status that a retry does not change.
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
    let info = client_info(core);
    let wire = core.wire.clone();
    let (answers, declared) = (core.answers.clone(), core.session_capabilities());
    let opened = Session::open(wire, answers, declared, info, core.timeouts());
    let (session, result) = opened.await?;
    core.protocol = Protocol::Legacy(Box::new(session));
    Ok(as_discovered(result))
}

/// Takes up a session of another client by its headers, without asking the server
/// anything; what is known of the server.
pub(crate) fn adopt(
    core: &mut Core,
    version: ProtocolVersion,
    headers: HeaderMap,
) -> DiscoverResult {
    let info = client_info(core);
    let wire = core.wire.clone();
    let (answers, declared) = (core.answers.clone(), core.session_capabilities());
    let session = Session::adopt(wire, answers, declared, info, core.timeouts(), headers);
    core.protocol = Protocol::Legacy(Box::new(session));
    DiscoverResult::new(vec![version], ServerCapabilities::default())
}

fn client_info(core: &Core) -> Implementation {
    let info = core.info.clone();
    info.unwrap_or_else(|| Implementation::new("client", "0"))
}

/// Converts the description of a legacy server to that of 2026-07-28.
fn as_discovered(result: InitializeResult) -> DiscoverResult {
    let versions = vec![result.protocol_version];
    let mut discovered = DiscoverResult::new(versions, result.capabilities.base);
    discovered.instructions = result.instructions;
    discovered.meta = Some(ResultMeta::of(result.server_info));
    discovered
}

/// The clients of one process need not all find out anew. Servers that speak
/// 2026-07-28 are not here: they are asked what they are in any case. A server is
/// its whole address, since one origin may hold servers of both eras.
static LEGACY: Mutex<Option<HashMap<String, Instant>>> = Mutex::new(None);

/// Returns true if the server at `endpoint` is known to be a legacy server.
fn is_known_legacy(endpoint: &str) -> bool {
    let memory = known_legacy();
    let found = memory.as_ref().and_then(|servers| servers.get(endpoint));
    found.is_some_and(|since| since.elapsed() < FRESH)
}

fn remember_legacy(endpoint: &str) {
    let mut memory = known_legacy();
    let servers = memory.get_or_insert_default();
    servers.retain(|_, since| since.elapsed() < FRESH);
    if servers.len() < MOST_SERVERS {
        servers.insert(endpoint.to_owned(), Instant::now());
    }
}

fn forget_legacy(endpoint: &str) {
    if let Some(servers) = known_legacy().as_mut() {
        servers.remove(endpoint);
    }
}

fn known_legacy() -> MutexGuard<'static, Option<HashMap<String, Instant>>> {
    LEGACY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An update of a server is noticed on the same day.
const FRESH: Duration = Duration::from_secs(3600);
const MOST_SERVERS: usize = 1024;

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
            assert_eq!(
                classify(&refusal(code, 400), true),
                ProbeResult::Modern,
                "{code}"
            );
            assert_eq!(
                classify(&refusal(code, 200), false),
                ProbeResult::Modern,
                "{code}"
            );
        }
    }

    #[test]
    fn trouble_of_the_moment_is_no_sign_of_age() {
        for code in [401, 403, 408, 425, 429, 500, 502, 503] {
            assert_eq!(
                classify(&status(code), true),
                ProbeResult::Unknown,
                "{code}"
            );
            assert_eq!(
                classify(&refusal(-32603, code), true),
                ProbeResult::Unknown,
                "{code}"
            );
        }
        assert_eq!(
            classify(&Fault::Broken("x").into(), true),
            ProbeResult::Unknown
        );
        assert_eq!(classify(&Fault::Closed.into(), true), ProbeResult::Unknown);
    }

    #[test]
    fn every_other_refusal_is_one_of_a_legacy_server() {
        for code in [400, 404, 405, 406, 415] {
            assert_eq!(classify(&status(code), true), ProbeResult::Legacy, "{code}");
        }
        for code in [-32601, -32602, -32600, -32000, 7] {
            assert_eq!(
                classify(&refusal(code, 400), true),
                ProbeResult::Legacy,
                "{code}"
            );
            assert_eq!(
                classify(&refusal(code, 200), false),
                ProbeResult::Legacy,
                "{code}"
            );
        }
        let silence = Duration::from_secs(5);
        assert_eq!(
            classify(&Fault::Timeout(silence).into(), false),
            ProbeResult::Legacy
        );
        assert_eq!(classify(&Fault::Closed.into(), false), ProbeResult::Legacy);
    }
}
