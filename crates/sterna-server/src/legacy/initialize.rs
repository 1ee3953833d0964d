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
use super::{FromClient, MCP_SESSION_ID, REVISIONS, refuse, tasks};
use crate::core::Core;
use crate::failure::Failure;
use crate::modern::Answer;
use crate::telemetry::Operation;

/// Answers a message that comes without a session id.
pub(super) fn initialize(core: &Arc<Core>, inbound: &Inbound) -> Response<ResponseBody> {
    match FromClient::decode(&inbound.body) {
        Ok(Message::Request(request)) => match request.params {
            ClientRequest::Initialize(params) => open(core, inbound, request.id, params),
            _ => refuse(StatusCode::BAD_REQUEST, super::NO_SESSION),
        },
        Err(error) if error.request_id().is_some() => {
            super::dispatch::unreadable(&error, &inbound.body, inbound.accepts)
        }
        _ => refuse(StatusCode::BAD_REQUEST, super::NO_SESSION),
    }
}

fn open(
    core: &Arc<Core>,
    inbound: &Inbound,
    id: RequestId,
    params: InitializeRequestParams,
) -> Response<ResponseBody> {
    // The one the client wants, or else the newest we have: it decides whether to go on.
    let version = REVISIONS
        .into_iter()
        .find(|known| *known == params.protocol_version)
        .unwrap_or(ProtocolVersion::V2025_11_25);
    let mut operation =
        Operation::begin(core, &inbound.admission, "initialize", None, &id, &version);
    let agreed = Agreed {
        capabilities: of_revision(&version, (&params.capabilities).into()),
        client: params.client_info,
        version: version.clone(),
    };
    let (answer, session) = match mint(core, inbound, &agreed) {
        Ok(session) => {
            let result = hello(core, inbound, version);
            (Answer::done(id, &result), Some(session))
        }
        Err(failure) => (Answer::refused(id, failure.to_legacy_wire()), None),
    };
    operation.end(answer.ended());
    let mut response = answer.plain(inbound.accepts);
    if let Some(session) = session {
        response.headers_mut().insert(MCP_SESSION_ID, session);
    }
    response
}

/// What this server offers, as far as the revision has it.
fn hello(core: &Core, inbound: &Inbound, version: ProtocolVersion) -> InitializeResult {
    let mut result = core.shown.hello.clone();
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

/// The id of the session, which holds what was agreed on.
fn mint(core: &Core, inbound: &Inbound, agreed: &Agreed) -> Result<HeaderValue, Failure> {
    if serde_json::to_vec(agreed).is_ok_and(|text| text.len() > MOST_AGREED) {
        let problem = "`capabilities` and `clientInfo` are longer than a session can hold (4 KiB)";
        return Err(Failure::params(problem));
    }
    let session = Session::mint(core, inbound.admission.caller(), agreed);
    session
        .and_then(|id| HeaderValue::try_from(id).ok())
        .ok_or(Failure::Internal)
}

/// What a client can be asked, as far as its revision has it.
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

/// What a server without sessions says to one that wants to open one: the
/// revisions it speaks. `None` for every other message.
pub(crate) fn not_spoken(inbound: &Inbound) -> Option<Response<ResponseBody>> {
    let (id, version) = match FromClient::decode(&inbound.body) {
        Ok(Message::Request(request)) => match request.params {
            ClientRequest::Initialize(params) => (request.id, params.protocol_version),
            _ => return None,
        },
        _ => return None,
    };
    let failure = Failure::Version(version);
    Some(Answer::failed(Some(&id), &failure).plain(inbound.accepts))
}

/// What a session id may have to hold: it comes back with every request, in a
/// header.
const MOST_AGREED: usize = 4 << 10;
