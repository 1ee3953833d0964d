//! Capabilities that a question needs.

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::elicitation::ElicitRequestParams;
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::JsonObject;
use sterna_protocol::sampling::IncludeContext;

/// Returns the capabilities that `client` would have to declare to be asked
/// `question`; `None` if it has declared them.
pub(crate) fn missing_capabilities(
    client: &ClientCapabilities,
    question: &InputRequest,
) -> Option<ClientCapabilities> {
    // Most questions are forms, and most clients show them.
    if let InputRequest::Elicit(request) = question
        && let ElicitRequestParams::Form(_) = &request.params
        && let Some(elicitation) = &client.elicitation
        && elicitation.has_form()
    {
        return None;
    }
    let mut required = question.required_capabilities();
    // SAMP-S2
    if let InputRequest::CreateMessage(request) = question
        && let Some(context) = &request.params.include_context
        && *context != IncludeContext::None
    {
        let sampling = required.sampling.get_or_insert_default();
        sampling.context = Some(JsonObject::new());
    }
    client.missing(&required)
}
