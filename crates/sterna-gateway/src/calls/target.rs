use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_client::{Call, Client, Reply};
use sterna_protocol::json::RawObject;
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{BackendCall, RequestError};

use crate::upstream::forwarded;

/// Result of a call that goes to a server.
pub(crate) trait UpstreamCall: Reply + DeserializeOwned + Serialize + Sync {
    /// The call of `name` with the arguments, the capabilities and the metadata of
    /// the client's request.
    fn build(client: &Client, name: &str, call: &BackendCall) -> Result<Call<Self>, RequestError>;
}

impl UpstreamCall for CallToolResult {
    fn build(client: &Client, name: &str, call: &BackendCall) -> Result<Call<Self>, RequestError> {
        let built = client.call(name);
        let built = match call.arguments() {
            Some(arguments) => built.args(arguments),
            None => built,
        };
        Ok(with_meta(built, call))
    }
}

impl UpstreamCall for GetPromptResult {
    fn build(client: &Client, name: &str, call: &BackendCall) -> Result<Call<Self>, RequestError> {
        let arguments: Option<serde_json::Result<BTreeMap<String, String>>> =
            call.arguments().map(RawObject::decode);
        let arguments = arguments.transpose().map_err(|_| {
            RequestError::invalid_params("Invalid params: arguments of a prompt are text")
        })?;
        let built = client.prompt(name).args(arguments.unwrap_or_default());
        Ok(with_meta(built, call))
    }
}

impl UpstreamCall for ReadResourceResult {
    fn build(client: &Client, name: &str, call: &BackendCall) -> Result<Call<Self>, RequestError> {
        Ok(with_meta(client.read(name), call))
    }
}

fn with_meta<T: UpstreamCall>(mut built: Call<T>, call: &BackendCall) -> Call<T> {
    for (key, value) in call.extra_meta().iter() {
        built = built.meta(key, value);
    }
    let trace = call.trace();
    for (key, value) in [
        ("traceparent", trace.traceparent()),
        ("tracestate", trace.tracestate()),
        ("baggage", trace.baggage()),
    ] {
        if let Some(value) = value {
            built = built.meta(key, value);
        }
    }
    built.capabilities(forwarded(call.capabilities()))
}
