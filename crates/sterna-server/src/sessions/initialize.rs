//! `initialize`: agreeing on a revision and giving the session a name.

use std::sync::Arc;

use http::{HeaderValue, Response, StatusCode};
use sterna_http::{Inbound, ResponseBody};
use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability};
use sterna_protocol::jsonrpc::{Message, RequestId};
use sterna_protocol::legacy::{ClientRequest, InitializeRequestParams, InitializeResult};
use sterna_protocol::version::ProtocolVersion;

use super::session::Session;
use super::v1::Agreed;
use super::{FromClient, refuse, tasks};
use crate::core::Core;
use crate::era::REVISIONS;
use crate::failure::Failure;
use crate::reply::Answer;
use crate::reply::RequestSpan;

/// Answer to a message that comes without a session, and the session that it
/// opened with its id.
pub(crate) struct Initialized {
    pub(crate) response: Response<ResponseBody>,
    pub(crate) opened: Option<(Session, HeaderValue)>,
}

/// Answers a message that comes without a session id.
pub(crate) fn initialize(core: &Arc<Core>, inbound: &Inbound) -> Initialized {
    let no_session = || refuse(StatusCode::BAD_REQUEST, super::NO_SESSION);
    let response = match FromClient::decode(&inbound.body) {
        Ok(Message::Request(request)) => match request.params {
            ClientRequest::Initialize(params) => return open(core, inbound, request.id, params),
            _ => no_session(),
        },
        Err(error) if error.request_id().is_some() => {
            super::dispatch::unreadable(&error, &inbound.body, inbound.accepts)
        }
        _ => no_session(),
    };
    Initialized {
        response,
        opened: None,
    }
}

fn open(
    core: &Arc<Core>,
    inbound: &Inbound,
    id: RequestId,
    params: InitializeRequestParams,
) -> Initialized {
    // The one the client wants, or else the newest we have: it decides whether to go on.
    let version = REVISIONS
        .into_iter()
        .find(|known| *known == params.protocol_version)
        .unwrap_or(ProtocolVersion::V2025_11_25);
    let mut operation =
        RequestSpan::begin(core, &inbound.admission, "initialize", None, &id, &version);
    let agreed = Agreed {
        capabilities: of_revision(&version, (&params.capabilities).into()),
        client: params.client_info,
        version: version.clone(),
    };
    let (answer, opened) = match mint(core, inbound, agreed) {
        Ok(opened) => {
            let result = hello(core, inbound, version);
            (Answer::done(id, &result), Some(opened))
        }
        Err(failure) => (Answer::refused(id, failure.to_session_wire()), None),
    };
    operation.end(answer.ended());
    Initialized {
        response: answer.plain(inbound.accepts),
        opened,
    }
}

/// Result of `initialize`, as far as the revision has its members.
fn hello(core: &Core, inbound: &Inbound, version: ProtocolVersion) -> InitializeResult {
    let mut result = core.cached.initialize_result.clone();
    if version < ProtocolVersion::V2025_11_25 {
        result.capabilities.tasks = None;
    }
    if let Some(tasks) = &mut result.capabilities.tasks
        && !tasks::has_name(inbound.admission.caller())
    {
        tasks.list = None;
    }
    result.protocol_version = version;
    result
}

/// A new session and its id, which holds what was agreed on.
fn mint(core: &Core, inbound: &Inbound, agreed: Agreed) -> Result<(Session, HeaderValue), Failure> {
    if serde_json::to_vec(&agreed).is_ok_and(|text| text.len() > MOST_AGREED) {
        let problem = "`capabilities` and `clientInfo` are longer than a session can hold (4 KiB)";
        return Err(Failure::params(problem));
    }
    let session = Session::mint(core, inbound.admission.caller(), agreed);
    session
        .and_then(|(session, id)| Some((session, HeaderValue::try_from(id).ok()?)))
        .ok_or(Failure::Internal)
}

/// Capabilities of a client, as far as its revision has them.
fn of_revision(
    version: &ProtocolVersion,
    mut capabilities: ClientCapabilities,
) -> ClientCapabilities {
    if *version < ProtocolVersion::V2025_11_25 {
        if capabilities.elicitation.is_some() {
            capabilities.elicitation = Some(ElicitationCapability::form());
        }
        if let Some(sampling) = &mut capabilities.sampling {
            sampling.tools = None;
        }
    }
    if *version < ProtocolVersion::V2025_06_18 {
        capabilities.elicitation = None;
    }
    capabilities
}

/// Refuses `initialize` with the revisions that the server speaks, for a server
/// without sessions. `None` for every other message.
pub(crate) fn reject_initialize(core: &Core, inbound: &Inbound) -> Option<Response<ResponseBody>> {
    let (id, version) = match FromClient::decode(&inbound.body) {
        Ok(Message::Request(request)) => match request.params {
            ClientRequest::Initialize(params) => (request.id, params.protocol_version),
            _ => return None,
        },
        _ => return None,
    };
    let failure = match core.profile.is_serverless {
        true => Failure::NoSessions(version),
        false => Failure::Version(version),
    };
    Some(Answer::failed(Some(&id), &failure).plain(inbound.accepts))
}

/// Bytes that a session id may hold: it comes back with every request, in a
/// header.
const MOST_AGREED: usize = 4 << 10;
